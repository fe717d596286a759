import process from "node:process";
import type { Log } from "../base/log.ts";
import { plainText } from "../base/plain-text.ts";

const levels = ["debug", "info", "warn", "error"] as const;

/** The kernel's own log on stderr: a line each, nothing in it that a terminal would obey. */
export function stderrLog(least: (typeof levels)[number] = "info"): Log {
  const write =
    (level: (typeof levels)[number]) => (message: string, fields?: Readonly<Record<string, unknown>>) => {
      if (levels.indexOf(level) < levels.indexOf(least)) return;
      const facts = fields === undefined ? "" : ` ${plainText(JSON.stringify(fields))}`;
      process.stderr.write(`${new Date().toISOString()} ${level} ${plainText(message)}${facts}\n`);
    };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}
