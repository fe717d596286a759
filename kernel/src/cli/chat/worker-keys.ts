import type { Key } from "../keyboard/key.ts";
import type { ChatStep } from "./input.ts";
import { layoutOf } from "./render/layout.ts";
import type { ChatState, WorkersPanel } from "./state/state.ts";
import { stay } from "./steps.ts";

/** Handles a key in the list of branches and workers. */
export function workersKey(state: ChatState, panel: WorkersPanel, key: Key): ChatStep {
  const shown = (next: WorkersPanel): ChatStep => stay({ ...state, panel: next });
  const { ranges, top, bodyRows, body } = layoutOf(state);
  const ids = [...ranges.keys()];
  const id = ids[panel.selected];
  const last = Math.max(0, body.length - bodyRows);
  const page = bodyRows - 1;
  if (key.text === "q") return stay({ ...state, panel: null });
  switch (key.isControl ? `C-${key.name}` : key.name) {
    case "return":
    case "space":
    case "C-o":
      return id === undefined ? stay(state) : shown(toggled(panel, id));
    case "down":
    case "up":
      return shown(moved(state, panel, ids, key.name === "down" ? 1 : -1));
    case "pagedown":
    case "pageup":
      return shown(scrolled(panel, ranges, Math.min(last, top + (key.name === "pagedown" ? page : -page))));
    case "home":
      return shown({ ...panel, selected: 0, top: 0 });
    case "end":
      return shown({ ...panel, selected: Math.max(0, ids.length - 1), top: last });
  }
  return stay(state);
}

function toggled(panel: WorkersPanel, id: string): WorkersPanel {
  const open = new Set(panel.open);
  if (!open.delete(id)) open.add(id);
  return { ...panel, open };
}

function moved(state: ChatState, panel: WorkersPanel, ids: readonly string[], step: -1 | 1): WorkersPanel {
  const { ranges, top, bodyRows } = layoutOf(state);
  const range = ranges.get(ids[panel.selected] ?? "");
  // A long row is scrolled before the next one is reached.
  if (range !== undefined && step > 0 && range.end > top + bodyRows) return { ...panel, top: top + 1 };
  if (range !== undefined && step < 0 && range.start < top) return { ...panel, top: top - 1 };
  const selected = panel.selected + step;
  const next = ranges.get(ids[selected] ?? "");
  if (next === undefined) return step < 0 ? { ...panel, top: 0 } : panel;
  if (next.start < top) return { ...panel, selected, top: selected === 0 ? 0 : next.start };
  const below = Math.min(next.start, next.end - bodyRows);
  return { ...panel, selected, top: Math.max(top, below) };
}

/** Returns the panel with its first line at `top`, and a row selected that is visible there. */
function scrolled(
  panel: WorkersPanel,
  ranges: ReturnType<typeof layoutOf>["ranges"],
  wanted: number,
): WorkersPanel {
  const top = Math.max(0, wanted);
  const visible = [...ranges.values()].findIndex(({ end }) => end > top);
  return { ...panel, top, selected: visible === -1 ? panel.selected : visible };
}
