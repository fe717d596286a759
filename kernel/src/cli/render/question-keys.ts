import type { Ask, AskScope } from "../../base/vocabulary/ask.ts";
import { cardKeys } from "../keyboard/card-keys.ts";

/** The key that denied a question in earlier versions; now `r` rejects everywhere. */
const earlierDeny = "d";

/** An answer to a question, with its key. */
interface KeyedAnswer {
  readonly key: "a" | "r" | "s" | "2";
  readonly words: string;
  readonly allow: boolean;
  readonly remember: AskScope;
}

/** Returns the possible answers to a question, each with the key of cards for it. */
export function answersTo(ask: Pick<Ask, "kind" | "facts" | "scopes">): readonly KeyedAnswer[] {
  const { scopes } = ask;
  const [first = "once"] = scopes;
  const once = scopes.includes("once") ? "once" : first;
  const widest = (["always", "conversation"] as const).find(
    (scope) => scope !== once && scopes.includes(scope),
  );
  const allowing = (key: KeyedAnswer["key"], remember: AskScope): KeyedAnswer => ({
    key,
    words: scopeWordsOf(ask, remember),
    allow: true,
    remember,
  });
  return [
    allowing(cardKeys.allow, once),
    ...scopes.filter((scope) => scope !== once && scope !== widest).map((scope) => allowing("2", scope)),
    ...(widest === undefined ? [] : [allowing(cardKeys.always, widest)]),
    { key: cardKeys.reject, words: "deny", allow: false, remember: first },
  ];
}

/** Returns the answer that a key gives: one of those that are shown, or a key of earlier versions. */
export function answerByKey(
  ask: Pick<Ask, "kind" | "facts" | "scopes">,
  key: string,
): Pick<KeyedAnswer, "allow" | "remember"> | undefined {
  const answers = answersTo(ask);
  const shown = answers.find((answer) => answer.key === key);
  if (shown !== undefined) return shown;
  if (key === earlierDeny) return answers.find(({ allow }) => !allow);
  const scope = /^[1-9]$/.test(key) ? ask.scopes[Number(key) - 1] : undefined;
  return scope === undefined ? undefined : { allow: true, remember: scope };
}

/** Returns the words for a scope of a question, beside the key that answers it. */
function scopeWordsOf({ kind, facts }: Pick<Ask, "kind" | "facts">, scope: AskScope): string {
  // A single yes allows every later run.
  if (kind === "schedule" && scope === "once")
    return "cron" in facts ? "allow until you revoke it (lares decisions)" : "allow";
  return scopeWords[scope];
}

const scopeWords: Readonly<Record<AskScope, string>> = {
  once: "allow once",
  conversation: "allow in this conversation",
  always: "allow always",
};
