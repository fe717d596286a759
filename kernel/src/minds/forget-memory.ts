import { isLaresError } from "../base/errors.ts";
import type { ForgettingReport, RemainingText } from "../base/vocabulary/forgetting.ts";
import type { Minds } from "./minds.ts";
import { checkIdle, removeFrom } from "./redacting.ts";
import { minRepeated } from "./redaction.ts";

/**
 * Forgets what a mind has remembered, with the copies of its text in the conversations of the mind and everywhere else.
 * `remove` removes the memory itself, and its result is returned. Conversations that work keep their copies, and are named.
 */
export async function forgetMemory<Result>(
  minds: Minds,
  { agent, id, text }: { readonly agent: string; readonly id: string; readonly text: string },
  remove: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly report: ForgettingReport }> {
  if (text.length < minRepeated) return { result: await remove(), report: { removed: [], remains: [] } };
  const { conversations } = minds;
  const logs: string[] = [];
  const atWork: RemainingText[] = [];
  const known = await conversations.redactions.conversationsOf([agent]);
  for (const each of known)
    try {
      await checkIdle(minds, each);
      logs.push(each);
    } catch (error) {
      if (!isLaresError(error, "IllegalTransition")) throw error;
      atWork.push({
        place: "a conversation",
        name: each,
        why: "Something runs in it, so it was not searched. Redact the text there when it rests.",
      });
    }
  if ((await conversations.find(agent)) !== null) logs.push(agent);
  const redaction = { agent, logs, text };
  const { result, report } = await minds.ports.forgetting.run(
    {
      // Other memories stay: one that says more than this may hold the same words.
      forgotten: { texts: [text], calls: [], agent, conversations: [], memories: [{ agent, id }] },
      logs: redaction,
    },
    async () => {
      const removed = await remove();
      // Those that began with it until now. Later ones cannot have it.
      const now = await conversations.redactions.conversationsOf([agent]);
      const later = [...now].filter((each) => !known.has(each));
      await removeFrom(minds, { ...redaction, logs: [...logs, ...later] });
      return removed;
    },
  );
  return { result, report: { ...report, remains: [...atWork, ...report.remains] } };
}
