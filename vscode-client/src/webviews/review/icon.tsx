import type { VNode } from "preact";

/**
 * Drawn in the colour of the text, 16 by 16. Icons carry no meaning by themselves: there is text beside them, or a
 * `label`.
 */
const paths = {
  zap: "M9.5 1 3 9h4l-1 6 7-9H8.6z",
  clock: "M8 1.5a6.5 6.5 0 1 0 .01 0zM8 4v4.2l3 1.8",
  trash: "M2.5 4h11M6 4V2.5h4V4m2 0-.7 9.5H4.7L4 4m2.5 2.5v5m3-5v5",
  move: "M2 8h11M9 4l4 4-4 4",
  file: "M4 1.5h5l3.5 3.5v9.5H4zM9 1.5V5h3.5",
  files: "M5 3.5V1.5h5l3.5 3.5v7H11M2.5 4.5h5L11 8v6.5H2.5z",
  folder: "M1.5 3.5h4l1.5 2h7.5v8h-13z",
  edit: "M2.5 13.5 3.3 10 11 2.3l2.7 2.7L6 12.7z",
  note: "M2 2h5.5l6.5 6.5-5.5 5.5L2 7.5zM5 5h.01",
  check: "m2.5 8.5 3.5 3.5 7.5-8",
  close: "m3.5 3.5 9 9m0-9-9 9",
  none: "M8 1.5a6.5 6.5 0 1 0 .01 0zM3.5 3.5l9 9",
  swap: "M3 5.5h9.5L10 3m3 7.5H3.5L6 13",
  undo: "M3 6h6.5a3.5 3.5 0 0 1 0 7H6M6 3 3 6l3 3",
  right: "m6 3.5 4.5 4.5L6 12.5",
  down: "m3.5 6 4.5 4.5L12.5 6",
  shield: "M8 1.5 13.5 3.5v4.2c0 3.3-2.3 5.5-5.5 6.8-3.2-1.3-5.5-3.5-5.5-6.8V3.5z",
} as const;
export type IconName = keyof typeof paths;

export function Icon({ name, label, kind }: { name: IconName; label?: string; kind?: string }): VNode {
  return (
    <svg
      class={`icon ${kind ?? ""}`}
      viewBox="0 0 16 16"
      width="16"
      height="16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.2"
      stroke-linejoin="round"
      stroke-linecap="round"
      {...(label === undefined ? { "aria-hidden": true } : { role: "img", "aria-label": label })}
    >
      {label !== undefined && <title>{label}</title>}
      <path d={paths[name]} />
    </svg>
  );
}
