import { AskRows } from "../../asks/ask-rows.ts";
import { Asks, type Question } from "../../asks/asks.ts";
import { isoTime } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import type { Asking } from "../../base/vocabulary/ask.ts";
import { systemClock } from "../../platform/clock.ts";
import { blockQuestion } from "../block-question.ts";
import type { MindPorts } from "../ports.ts";
export { askAbout as askAboutSchedules } from "../schedule-question.ts";
import type { Database } from "../../platform/database/database.ts";

/** Opens the questions of one kernel, with those that an earlier one left. */
export async function openAsks(database: Database): Promise<Asks> {
  const rows = new AskRows(database);
  const asks = new Asks({
    clock: systemClock,
    log: silentLog,
    rows,
    expireAfterMs: () => 86_400_000,
    remembered: { find: () => null, remember: async () => undefined },
  });
  asks.resume(await rows.endAll(isoTime(systemClock.now())), await rows.conversationAnswers());
  return asks;
}

/** Returns what asks the person whether an agent may do something. */
export function mayFrom(asks: Asks) {
  return (
    kind: Question["kind"],
    about: string,
    { agent, conversation }: { readonly agent: string; readonly conversation: string },
    signal: AbortSignal,
    asking?: Asking,
  ): Promise<boolean> =>
    asks.isAllowed(
      {
        agent,
        conversation,
        kind,
        title: `May it ${about}?`,
        reason: "",
        sources: [],
        facts: {},
        scopes: ["once"],
        about,
        countsFor: "agent",
      },
      signal,
      asking,
    );
}

/** Returns what minds need of the questions. */
export function askPorts(asks: Asks): MindPorts["asks"] {
  return {
    get: (id) => asks.get(id),
    withdraw: (id) => asks.withdraw(id),
    block: (place, edit, key) => asks.ask(blockQuestion(place, edit), { key }),
  };
}
