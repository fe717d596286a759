import { traceLevels } from "../base/vocabulary/trace.ts";
import type { Log } from "../base/log.ts";
import { plainLine } from "../base/plain-text.ts";
import { writeToStderr } from "../platform/processes/stdio.ts";

/** Maximum length of a line, so that text from a peer or an agent cannot fill the disk. */
const maxLineCharacters = 4_000;
/** Maximum number of lines in an interval; the next interval's first line reports how many were dropped. */
const maxLinesPerSpan = 500;
const spanMs = 10_000;

interface StderrLogOptions {
  readonly least?: (typeof traceLevels)[number];
  readonly write?: (line: string) => void;
  readonly now?: () => Date;
}

/** The kernel's own log on stderr: one line per entry, without terminal control sequences. */
export function stderrLog({
  least = "info",
  write = writeToStderr,
  now = () => new Date(),
}: StderrLogOptions = {}): Log {
  let spanStartMs = -Infinity;
  let linesInSpan = 0;
  const put = (level: string, text: string): void => write(`${now().toISOString()} ${level} ${text}\n`);
  const say =
    (level: (typeof traceLevels)[number]) =>
    (message: string, fields?: Readonly<Record<string, unknown>>) => {
      if (traceLevels.indexOf(level) < traceLevels.indexOf(least)) return;
      const nowMs = now().getTime();
      if (nowMs - spanStartMs >= spanMs || nowMs < spanStartMs) {
        const leftOut = linesInSpan - maxLinesPerSpan;
        if (leftOut > 0) put("warn", `${leftOut} lines were left out: there were too many at once.`);
        spanStartMs = nowMs;
        linesInSpan = 0;
      }
      if (++linesInSpan > maxLinesPerSpan) return;
      const facts = fields === undefined ? "" : ` ${JSON.stringify(fields)}`;
      const text = `${message.slice(0, maxLineCharacters)}${facts.slice(0, maxLineCharacters)}`;
      put(level, plainLine(text));
    };
  return { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") };
}
