import { isLaresError } from "../base/errors.ts";
import type { ForgettingReport, RemainingText } from "../base/vocabulary/forgetting.ts";
import type { Minds } from "./minds.ts";
import { checkIdle, forget, removeFrom } from "./redacting.ts";
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
  const { conversations } = minds;
  const logs: string[] = [];
  const atWork: RemainingText[] = [];
  for (const each of await conversations.redactions.conversationsOf([agent]))
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
  // A short text may stand anywhere by chance: then only the memory itself is removed, by its id.
  const isDistinctive = text.length >= minRepeated;
  const redaction = { agent, logs, memories: [id], ...(isDistinctive ? { text } : {}) };
  let replaced = 0;
  const { result, report } = await forget(
    minds,
    redaction,
    {
      texts: isDistinctive ? [text] : [],
      calls: [],
      agent,
      conversations: [],
      // Other memories stay: one that says more than this may hold the same words.
      memories: [{ agent, id }],
    },
    async () => {
      replaced = (await removeFrom(minds, redaction)).length;
      return await remove();
    },
  );
  const removed = replaced === 0 ? [] : [{ place: "conversations", count: replaced }];
  return {
    result,
    report: { removed: [...removed, ...report.removed], remains: [...atWork, ...report.remains] },
  };
}
