import type { Action } from "../../base/vocabulary/action.ts";
import { type Frame, renderReview } from "../review/render/screen.ts";
import { noStyle } from "../render/style.ts";
import { displayWidth } from "../render/width.ts";
import type { Key } from "../keyboard/key.ts";
import type { Command, Input } from "../review/input.ts";
import { newReview, type ReviewState, type Size } from "../review/state/state.ts";
import { update } from "../review/update.ts";

/** Long enough after a frame for a key to count. */
const pauseMs = 10_000;

/** A review without a terminal: keys go in, the screen as text and the commands come out. */
export class ReviewWalk {
  state: ReviewState;
  /** All that was wanted but reading. */
  readonly commands: Command[] = [];
  readonly #wholes: ReadonlyMap<string, Action>;
  #nowMs = 0;

  constructor(actions: readonly Action[], size: Size, { isAscii = false, nowMs = 0 } = {}) {
    this.#wholes = new Map(actions.map((action) => [action.id, action]));
    this.state = newReview({ style: noStyle, isAscii }, size, "/home/ada", nowMs);
    this.send({ kind: "actions", actions: actions.map(withoutDiffs) });
  }

  send(input: Input): void {
    const { state, commands } = update(this.state, input);
    this.state = state;
    for (const command of commands) {
      if (command.kind !== "load") {
        if (command.kind !== "redraw") this.commands.push(command);
        continue;
      }
      const action = this.#wholes.get(command.id);
      if (action !== undefined)
        this.send({ kind: "whole", id: command.id, whole: { action, unread: new Map() } });
    }
  }

  /** Keys by name ("return", "escape", "space", "tab") or character, each after its frame was on the screen for a while. */
  press(...keys: readonly string[]): void {
    for (const key of keys) {
      this.draw();
      this.#nowMs += pauseMs;
      this.pressAtOnce(key);
    }
    this.draw();
  }

  pressAtOnce(name: string): void {
    this.send({ kind: "key", key: keyOf(name), atMs: this.#nowMs });
  }

  draw(): void {
    this.send({ kind: "drawn", atMs: this.#nowMs });
  }

  get screen(): string {
    return frameText(renderReview(this.state));
  }
}

function keyOf(name: string): Key {
  const text = name === "space" ? " " : Array.from(name).length === 1 ? name : "";
  return { name: name.toLowerCase(), text, isControl: false, isShift: false };
}

function withoutDiffs(action: Action): Action {
  return { ...action, effects: action.effects.map(({ diff: _diff, ...effect }) => effect) };
}

/** Returns a frame as text. */
function frameText(frame: Frame): string {
  return frame
    .map((cells) => {
      let line = "";
      for (const { column, text } of cells)
        line += " ".repeat(Math.max(0, column - displayWidth(line))) + text;
      return line.trimEnd();
    })
    .join("\n");
}
