import type { VNode } from "preact";

/** Drawn on a field of 16 by 16, in the colour of the text, because a page loads no font. */
const shapes = {
  check: () => <path d="M3 8.5l3.2 3.2L13 5" />,
  cross: () => <path d="M4 4l8 8M12 4l-8 8" />,
  bolt: () => <path d="M9 2L4 9h3.5L7 14l5-7H8.5z" />,
  undo: () => <path d="M6 3L3 6l3 3M3 6h6.5a3.5 3.5 0 010 7H7" />,
  error: () => (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4" />
    </>
  ),
  pass: () => (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M5.3 8.2l2 2 3.5-4" />
    </>
  ),
  circle: () => <circle cx="8" cy="8" r="6" />,
  off: () => (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M4 12l8-8" />
    </>
  ),
  pause: () => <path d="M5.5 3.5v9M10.5 3.5v9" />,
  shield: () => <path class="filled" d="M8 1.8l5 1.8v4.2c0 3-2 5.2-5 6.4-3-1.2-5-3.4-5-6.4V3.6z" />,
  bell: () => (
    <path
      class="filled"
      d="M8 2a4 4 0 014 4v3l1.5 2.5h-11L4 9V6a4 4 0 014-4zM6.3 13h3.4a1.7 1.7 0 01-3.4 0z"
    />
  ),
  work: () => <path class="turns" d="M8 2a6 6 0 105.6 4" />,
  clock: () => (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M8 4.5V8l2.5 1.5" />
    </>
  ),
} as const satisfies Record<string, () => VNode>;

export type IconName = keyof typeof shapes;

/** An icon beside text that says the same. */
export function Icon({
  name,
  class: className = "",
}: {
  readonly name: IconName;
  readonly class?: string;
}): VNode {
  return (
    <svg class={`icon ${className}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      {shapes[name]()}
    </svg>
  );
}
