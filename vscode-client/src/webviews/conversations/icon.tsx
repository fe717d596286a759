import type { VNode } from "preact";

/** Drawn in the colour of the text, 16 by 16, beside words or in a button that has a label. */
const paths = {
  back: "m10 3-5 5 5 5",
  eye: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 6.2a1.8 1.8 0 1 0 .01 0z",
  fork: "M4.5 2.2a1.5 1.5 0 1 0 .01 0zM11.5 2.2a1.5 1.5 0 1 0 .01 0zM8 10.8a1.5 1.5 0 1 0 .01 0zM4.5 5.2v1a2 2 0 0 0 2 2h3a2 2 0 0 0 2-2v-1M8 8.2v2.6",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  plus: "M8 3v10M3 8h10",
  close: "m4 4 8 8m0-8-8 8",
  stop: "M4.5 4.5h7v7h-7z",
  send: "M8 13V3M4 7l4-4 4 4",
  right: "m6 3.5 4.5 4.5L6 12.5",
  down: "m3.5 6 4.5 4.5L12.5 6",
  bell: "M8 2a4 4 0 0 1 4 4v3l1.5 2.5h-11L4 9V6a4 4 0 0 1 4-4zM6.5 13.5h3",
  check: "m2.5 8.5 3.5 3.5 7.5-8",
  failed: "M8 1.5a6.5 6.5 0 1 0 .01 0zM5.5 5.5l5 5m0-5-5 5",
  shield: "M8 1.5 13.5 3.5v4.2c0 3.3-2.3 5.5-5.5 6.8-3.2-1.3-5.5-3.5-5.5-6.8V3.5z",
  pin: "M6 2h4l-.6 4.5L12 9v1H4V9l2.6-2.5zM8 10v4",
  file: "M4 1.5h5l3.5 3.5v9.5H4zM9 1.5V5h3.5",
  picture: "M2 3h12v10H2zM2 11l3.5-3.500 3 3 2-2 3.500 3.500M10.500 5.500h.01",
  quote: "M3 4h10M3 8h10M3 12h6",
  fold: "M2 8h12M8 1.5v4m-2-2 2 2 2-2M8 14.5v-4m-2 2 2-2 2 2",
  undo: "M3 6h6.5a3.5 3.5 0 0 1 0 7H6M6 3 3 6l3 3",
  question: "M8 1.5a6.5 6.5 0 1 0 .01 0zM6.2 6.2a1.8 1.8 0 1 1 2.6 1.6c-.5.3-.8.7-.8 1.4M8 11.4h.01",
  trash: "M3 4.500h10M6 4.500v-2h4v2M4.500 4.500l.6 9h5.800l.6-9M6.700 7v4M9.300 7v4",
  // Not `question`: that class draws a waiting question as a box.
  why: "M6.2 6.2a1.8 1.8 0 1 1 2.600 1.600c-.5.300-.8.700-.8 1.400M8 11.400h.01M8 1.500a6.500 6.500 0 1 0 .01 0z",
  branch: "M4.5 2.2v11.6M4.5 9c0-2.5 7-1.5 7-5M11.5 4V2.5",
  worker: "M3 13.5c0-2.8 2.2-4.5 5-4.5s5 1.7 5 4.5M8 2.5a2.6 2.6 0 1 0 .01 0z",
  tool: "M10 2.5a3.5 3.5 0 0 0-3.2 5L2.5 11.800l1.7 1.700 4.300-4.300a3.500 3.500 0 0 0 5-3.200l-2 2-2-.5-.5-2z",
} as const;
type IconName = keyof typeof paths;

export function Icon({ name, label }: { readonly name: IconName; readonly label?: string }): VNode {
  return (
    <svg
      class={`icon ${name}`}
      viewBox="0 0 16 16"
      width="16"
      height="16"
      {...(label === undefined ? { "aria-hidden": true } : { role: "img", "aria-label": label })}
    >
      <path d={paths[name]} />
    </svg>
  );
}

interface IconButtonProps {
  readonly name: IconName;
  readonly label: string;
  readonly isOpen?: boolean;
  readonly isPressed?: boolean;
  readonly onPress: () => void;
}

export function IconButton({ name, label, isOpen, isPressed, onPress }: IconButtonProps): VNode {
  return (
    <button
      type="button"
      class="button icon-only"
      title={label}
      aria-label={label}
      {...(isOpen === undefined ? {} : { "aria-expanded": isOpen })}
      {...(isPressed === undefined ? {} : { "aria-pressed": isPressed })}
      onClick={onPress}
    >
      <Icon name={name} />
    </button>
  );
}

/** Waiting is filled and still; working is dashed and moves. */
export function Sign({
  kind,
  children,
}: {
  readonly kind: "waiting" | "working" | "failed" | "quiet";
  readonly children: string;
}): VNode {
  return (
    <span class={`sign ${kind}`}>
      {kind === "working" ? (
        <span class="spinner" aria-hidden="true" />
      ) : kind === "quiet" ? (
        <Icon name="check" />
      ) : (
        <Icon name={kind === "waiting" ? "bell" : "failed"} />
      )}
      {children}
    </span>
  );
}
