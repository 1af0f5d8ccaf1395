/** The shapes of an icon as one path: it is sent in fewer bytes and mounted as one element. The build uses it. */

export type Shape = readonly [tag: string, attributes: Readonly<Record<string, string | number>>];

const NUMBER = "-?(?:\\d*\\.\\d+|\\d+)";
const RELATIVE = new RegExp(`^m\\s*(${NUMBER})[\\s,]*(${NUMBER})\\s*`);

/** The path that draws all shapes, each from its own beginning. Throws where a shape has more than a line. */
export function onePath(shapes: readonly Shape[]): string {
  return shapes.map(pathOf).join("");
}

function pathOf([tag, { key: _, ...rest }]: Shape): string {
  const attributes: Record<string, string | number> = rest;
  const at = (name: string): number => {
    const value = Number(attributes[name] ?? 0);
    delete attributes[name];
    return value;
  };
  const text = (name: string): string => {
    const value = String(attributes[name] ?? "");
    delete attributes[name];
    return value;
  };
  const drawn = draw(tag, at, text);
  const others = Object.keys(attributes);
  if (drawn === null || others.length > 0) throw new Error(`${tag} with ${others.join(", ") || "no line"} cannot be written as a path`);
  return drawn;
}

function draw(tag: string, at: (name: string) => number, text: (name: string) => string): string | null {
  switch (tag) {
    case "path":
      return absolute(text("d"));
    case "line":
      return `M${at("x1")} ${at("y1")}L${at("x2")} ${at("y2")}`;
    case "polyline":
      return `M${text("points")}`;
    case "polygon":
      return `M${text("points")}z`;
    case "circle":
      return ellipse(at("cx"), at("cy"), at("r"));
    case "ellipse":
      return ellipse(at("cx"), at("cy"), at("rx"), at("ry"));
    case "rect":
      return rect(at("x"), at("y"), at("width"), at("height"), at("rx"), at("ry"));
    default:
      return null;
  }
}

/** A path that begins relative to nothing begins relative to the shape before it once they are joined. */
function absolute(d: string): string {
  return d.trim().replace(RELATIVE, (_, x: string, y: string) => `M${x} ${y}l`).replace(/^(M\S+ \S+)l(?=[a-zA-Z]|$)/, "$1");
}

function ellipse(cx: number, cy: number, rx: number, ry = rx): string {
  const half = (way: number) => `a${rx} ${ry} 0 1 0 ${rounded(way * 2 * rx)} 0`;
  return `M${rounded(cx - rx)} ${cy}${half(1)}${half(-1)}`;
}

function rect(x: number, y: number, width: number, height: number, rx: number, ry: number): string {
  const r = rx || ry;
  if (r === 0) return `M${x} ${y}h${width}v${height}h${-width}z`;
  const [w, h] = [rounded(width - 2 * r), rounded(height - 2 * r)];
  const corner = (dx: number, dy: number) => `a${r} ${r} 0 0 1 ${dx} ${dy}`;
  return `M${rounded(x + r)} ${y}h${w}${corner(r, r)}v${h}${corner(-r, r)}h${-w}${corner(-r, -r)}v${-h}${corner(r, -r)}z`;
}

function rounded(n: number): number {
  return Math.round(n * 1000) / 1000;
}
