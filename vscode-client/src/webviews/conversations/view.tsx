import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useCommonState, usePush } from "../shared/hooks.ts";
import { WhileRunning } from "../shared/notice.tsx";
import type { PageProps } from "../shared/page.tsx";
import { noDraft, type Draft } from "./composer.tsx";
import { ConversationPage } from "./conversation.tsx";
import { keptFrom, keptOf, withDraft } from "./kept.ts";
import { ConversationList } from "./list.tsx";
import { maxAttached, type Attached, type ConversationsContract } from "./messages.ts";

/** Conversations: the list of them, or one. */
export function ConversationsView({ host, editor }: PageProps<ConversationsContract>): VNode {
  const commonState = useCommonState(host);
  const [kept, setKept] = useState(() => keptFrom(editor.kept));
  const [focus, setFocus] = useState(0);
  /** Attachments requested before a conversation was open. */
  const [toAttach, setToAttach] = useState<readonly Attached[]>([]);
  useEffect(() => editor.keep(keptOf(kept)), [kept]);

  const { id } = kept;
  const draft: Draft = kept.drafts.find((one) => one.id === id) ?? noDraft;
  const write = (of: string, { text, attached }: Draft): void =>
    setKept((before) => ({
      ...before,
      drafts: withDraft(before.drafts, { id: of, text, attached: [...attached] }),
    }));
  const open = (of: string): void => {
    setKept((before) => ({ ...before, id: of }));
    setFocus((before) => before + 1);
  };
  const look = (): void => {
    // An error means that the extension is shutting down together with the page.
    host.ask("wanted", {}).then(
      (wanted) => {
        if (wanted.id !== undefined) open(wanted.id);
        if (wanted.attached.length > 0) setToAttach((before) => [...before, ...wanted.attached]);
      },
      () => undefined,
    );
  };
  usePush(host, "wanted", look);
  useEffect(look, [host]);
  useEffect(() => {
    if (id === undefined || toAttach.length === 0) return;
    write(id, { text: draft.text, attached: [...draft.attached, ...toAttach].slice(-maxAttached) });
    setToAttach([]);
    setFocus((before) => before + 1);
  }, [id, toAttach]);

  return (
    <WhileRunning host={host} commonState={commonState}>
      {id === undefined ? (
        <>
          {toAttach.length > 0 && (
            <p class="attach-hint" role="status">
              Open a conversation to attach it.
            </p>
          )}
          <ConversationList host={host} onOpen={open} />
        </>
      ) : (
        <ConversationPage
          key={id}
          host={host}
          id={id}
          draft={draft}
          onDraft={(written) => write(id, written)}
          onOpen={open}
          onClose={() => setKept(({ drafts }) => ({ drafts }))}
          focus={focus}
        />
      )}
    </WhileRunning>
  );
}
