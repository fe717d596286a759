import type { Clock } from "../base/clock.ts";
import { nextTurn } from "../base/next-turn.ts";
import type { ModelAnswerPart } from "../base/vocabulary/model.ts";
import type { AnswerEvent } from "./answer.ts";

/**
 * Milliseconds without another piece, after which a text is passed on although it may be the beginning of a secret. Counted
 * from its last piece: a model takes longer than that to write a key.
 */
export const maxHeldMs = 250;

/** Characters that are read in one turn of the loop: a server may send megabytes in one piece. */
const turnLength = 16 * 1024;

/** Replaces secrets in a text that comes in pieces; `secret-scan/stream.ts` implements it. */
interface RedactorOfStream {
  /** Characters that are held back. */
  readonly held: number;
  push(text: string): string;
  /** Passes on what is held back. */
  flush(): string;
  end(): string;
}

/** Takes secrets out of what models answer. */
export interface AnswerRedactor {
  stream(): RedactorOfStream;
  replace(text: string): string;
}

type TextType = "text" | "reasoning";

/**
 * Returns the events with secrets in texts and reasoning replaced by marks. A text that may be a secret is held back
 * until it is decided, or until nothing has come for `maxHeldMs`. Calls of tools stay as they are, because the tool
 * needs exactly these arguments; so does reasoning in the parts of `done` that its model wants to see again unchanged:
 * what is shown of it are the deltas.
 * `leave` is called when nobody wants further events, and has to end those that are awaited.
 */
export async function* redactedEvents(
  events: AsyncIterable<AnswerEvent>,
  redactor: AnswerRedactor,
  clock: Pick<Clock, "timer">,
  leave: () => void,
): AsyncGenerator<AnswerEvent, void> {
  const iterator = events[Symbol.asyncIterator]();
  let open = null as { readonly type: TextType; readonly stream: RedactorOfStream } | null;
  let timer = null as { readonly due: Promise<"due">; readonly disposable: Disposable } | null;
  const stopTimer = (): void => {
    timer?.disposable[Symbol.dispose]();
    timer = null;
  };
  function* passed(text: string): Generator<AnswerEvent> {
    if (open !== null && text !== "") yield { type: open.type, text };
  }
  function* close(): Generator<AnswerEvent> {
    stopTimer();
    if (open !== null) yield* passed(open.stream.end());
    open = null;
  }
  try {
    let next = iterator.next();
    for (;;) {
      const came = timer === null ? await next : await Promise.race([next, timer.due]);
      if (came === "due") {
        timer = null;
        if (open !== null) yield* passed(open.stream.flush());
        continue;
      }
      if (came.done === true) return yield* close();
      const event = came.value;
      switch (event.type) {
        case "text":
        case "reasoning": {
          if (open?.type !== event.type) {
            yield* close();
            open = { type: event.type, stream: redactor.stream() };
          }
          for (let at = 0; at < event.text.length; at += turnLength) {
            const text = open.stream.push(event.text.slice(at, at + turnLength));
            stopTimer();
            if (open.stream.held > 0) timer = timerOf(clock);
            yield* passed(text);
            if (at + turnLength < event.text.length) await nextTurn();
          }
          break;
        }
        case "done":
          yield* close();
          yield { ...event, parts: await redactedParts(event.parts, redactor) };
          break;
        case "attempt":
        case "attempt_failed":
        case "failed":
        case "tool_call":
          yield* close();
          yield event;
      }
      next = iterator.next();
    }
  } finally {
    stopTimer();
    leave();
    await iterator.return?.();
  }
}

function timerOf(clock: Pick<Clock, "timer">): {
  readonly due: Promise<"due">;
  readonly disposable: Disposable;
} {
  const { promise, resolve } = Promise.withResolvers<"due">();
  return { due: promise, disposable: clock.timer(maxHeldMs, () => resolve("due")) };
}

async function redactedParts(
  parts: readonly ModelAnswerPart[],
  redactor: AnswerRedactor,
): Promise<readonly ModelAnswerPart[]> {
  const redacted: ModelAnswerPart[] = [];
  for (const part of parts) {
    if (part.type === "tool_call" || ("opaque" in part && part.opaque !== undefined)) redacted.push(part);
    else redacted.push({ ...part, text: await redactedText(part.text, redactor) });
  }
  return redacted;
}

async function redactedText(text: string, redactor: AnswerRedactor): Promise<string> {
  if (text.length <= turnLength) return redactor.replace(text);
  const stream = redactor.stream();
  let redacted = "";
  for (let at = 0; at < text.length; at += turnLength) {
    redacted += stream.push(text.slice(at, at + turnLength));
    await nextTurn();
  }
  return redacted + stream.end();
}
