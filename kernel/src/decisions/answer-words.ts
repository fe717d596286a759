import { named } from "../base/named.ts";
import { quotedText, visibleText } from "../base/visible-text.ts";
import type { KeptAnswer } from "./rule-decisions.ts";

/** Returns the title of a remembered answer in one line. Text cannot end its quotes. */
export function answerTitle({ allow, kind, about, agent }: KeptAnswer): string {
  const who = agent === undefined ? "for any agent" : `for ${visibleText(named(agent))}`;
  return `${allow ? "Allow" : "Refuse"} ${subjectWords(kind, quotedText(about))} ${who}`;
}

function subjectWords(kind: KeptAnswer["kind"], about: string): string {
  switch (kind) {
    case "model":
      return `the language models that were found: ${about}`;
    case "budget":
      return `${about}, whose price is not known,`;
    case "egress":
      return `requests to ${about}`;
    case "repeat":
      return `repeated calls of ${about}`;
    case "block":
      return `the block's text ${about}`;
    case "schedule":
      return `the schedule ${about}`;
  }
}
