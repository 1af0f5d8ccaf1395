/** What an icon of lucide becomes in the built page: one path, drawn in the colour of the text. */
import type { SVGProps } from "react";

export function icon(d: string) {
  return function Icon(props: SVGProps<SVGSVGElement>) {
    return (
      <svg viewBox="0 0 24 24" width="24" height="24" fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round" strokeLinejoin="round" {...props}>
        <path d={d} />
      </svg>
    );
  };
}
