import { dirname } from "node:path";
import type { Finding } from "./render/findings.ts";

/** Returns the warning about a `.gitignore` that cannot be read; `fault` is a clause that gives the reason. */
export function unreadRulesFinding({
  file,
  fault,
}: {
  readonly file: string;
  readonly fault: string;
}): Finding {
  return {
    file,
    line: 1,
    column: 1,
    severity: "warning",
    code: "gitignore-not-read",
    message: `This file ${fault}. It could exclude any file, so agents see no file in ${dirname(file)}. Make it a readable file, or remove it.`,
  };
}
