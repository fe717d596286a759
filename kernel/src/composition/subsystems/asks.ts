import { AskRows } from "../../asks/ask-rows.ts";
import { Asks } from "../../asks/asks.ts";
import { isoTime } from "../../base/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import type { KernelConfiguration } from "./configuration.ts";
import type { KernelContext } from "./kernel-context.ts";

/**
 * Opens the questions to the person. What a kernel that died had asked is over, because what waited for it is gone; but
 * conversations continue, and ask again.
 */
export async function openAsks(
  { clock, log, opened }: KernelContext,
  {
    database,
    configuration: { configuration, decisions },
  }: {
    readonly database: Database;
    readonly configuration: KernelConfiguration;
  },
): Promise<Asks> {
  const rows = new AskRows(database);
  const waiting = await rows.endAll(isoTime(clock.now()));
  const { store } = decisions;
  const asks = opened.use(
    new Asks({
      clock,
      log,
      rows,
      expireAfterMs: () => configuration.configuration.approvals.expireAfterMs,
      remembered: {
        find: (subject) => store.answerTo(subject),
        remember: (subject, allow) => store.rememberAnswer(subject, allow),
      },
    }),
  );
  asks.resume(waiting, await rows.conversationAnswers());
  return asks;
}
