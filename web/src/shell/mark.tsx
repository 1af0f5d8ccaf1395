/** The mark of Detent: a ring with its notch, and the ball that rests in it. */
export function Mark() {
  return (
    <svg width="22" height="22" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M8.1 4.6a8.6 8.6 0 1 0 7.8 0" fill="none" stroke="currentColor" strokeWidth="2.6" strokeLinecap="round" />
      <circle cx="12" cy="5.2" r="3" fill="currentColor" />
    </svg>
  );
}
