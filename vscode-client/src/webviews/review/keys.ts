/** A command that a key runs on the page. Letters take no modifier but Shift and do nothing in a text field. */
export type KeyCommand =
  | "next"
  | "previous"
  | "first"
  | "last"
  | "approve"
  | "reject"
  | "edit"
  | "show"
  | "select"
  | "approveSelected"
  | "rejectSelected"
  | "takePart"
  | "leavePart"
  | "always"
  | "undo"
  | "filter"
  | "keys"
  | "close";

interface Pressed {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
}

/**
 * Where the focus is: keys that a control uses go to the control. Inside a panel of a card, the page handles no key but
 * Escape, because it would decide about a card that the person is not looking at.
 */
export type Place = "list" | "control" | "panel" | "text";

const letters: Readonly<Record<string, KeyCommand>> = {
  j: "next",
  k: "previous",
  a: "approve",
  r: "reject",
  e: "edit",
  A: "approveSelected",
  R: "rejectSelected",
  y: "takePart",
  n: "leavePart",
  l: "always",
  u: "undo",
  f: "filter",
  "?": "keys",
};
const movements: Readonly<Record<string, KeyCommand>> = {
  ArrowDown: "next",
  ArrowUp: "previous",
  Home: "first",
  End: "last",
  Enter: "show",
  " ": "select",
};

/** Returns the command of a key, or undefined if the key belongs to the control or the editor. */
export function commandOf({ key, ctrlKey, altKey, metaKey }: Pressed, place: Place): KeyCommand | undefined {
  if (ctrlKey || altKey || metaKey) return undefined;
  if (key === "Escape") return "close";
  if (place === "text" || place === "panel") return undefined;
  if (Object.hasOwn(letters, key)) return letters[key];
  return place === "list" && Object.hasOwn(movements, key) ? movements[key] : undefined;
}

/** The keys as the page lists them. */
export const keyHelp: readonly (readonly [keys: readonly string[], words: string])[] = [
  [["↓", "↑"], "move, also J and K"],
  [["A"], "approve (a large one is shown first)"],
  [["R"], "reject; type a reason or none, then Enter"],
  [["E"], "edit before approving"],
  [["Enter"], "show the changes"],
  [["Space"], "select"],
  [["⇧A"], "approve what is selected"],
  [["⇧R"], "reject what is selected"],
  [["Y", "N"], "take or leave the part under the focus"],
  [["L"], "always allow…"],
  [["U"], "undo"],
  [["F"], "filter"],
  [["Esc"], "close what is open"],
];
