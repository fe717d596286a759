import { useEffect, useRef, useState } from "preact/hooks";
import { failureOf, usePush } from "../shared/hooks.ts";
import type { Host } from "../shared/host.ts";
import type { ConversationsContract, Decisions, Head } from "./messages.ts";
import { Transcript } from "./transcript.ts";

export interface OpenConversation {
  readonly head: Head;
  readonly transcript: Transcript;
  /** Counts the changes of `transcript`. */
  readonly version: number;
  readonly pinnedBefore: readonly string[];
  readonly decisions: Decisions;
}

type Followed =
  | { readonly kind: "loading" }
  | { readonly kind: "failed"; readonly message: string; readonly isGone: boolean }
  | { readonly kind: "open"; readonly conversation: OpenConversation };

/** Follows a conversation while it is shown. */
export function useConversation(
  host: Host<ConversationsContract>,
  id: string,
): {
  readonly followed: Followed;
  readonly again: () => void;
  readonly loadEarlier: () => Promise<void>;
} {
  const [followed, setFollowed] = useState<Followed>({ kind: "loading" });
  const [round, setRound] = useState(0);
  const transcript = useRef(new Transcript());
  const change = (act: (before: OpenConversation) => Partial<OpenConversation>): void =>
    setFollowed((before) =>
      before.kind === "open"
        ? {
            kind: "open",
            conversation: {
              ...before.conversation,
              version: before.conversation.version + 1,
              ...act(before.conversation),
            },
          }
        : before,
    );

  useEffect(() => {
    let isCurrent = true;
    const fresh = new Transcript();
    transcript.current = fresh;
    setFollowed({ kind: "loading" });
    host.ask("follow", { id }).then(
      ({ head, entries, hasEarlier, pinned, decisions }) => {
        if (!isCurrent) return;
        fresh.take(entries);
        fresh.hasEarlier = hasEarlier;
        setFollowed({
          kind: "open",
          conversation: { head, transcript: fresh, version: 0, pinnedBefore: pinned, decisions },
        });
      },
      (error: unknown) => {
        if (!isCurrent) return;
        const { message, code } = failureOf(error);
        setFollowed({ kind: "failed", message, isGone: code === "NotFound" });
      },
    );
    return () => {
      isCurrent = false;
      // An error means that the extension is shutting down together with the page.
      void host.ask("unfollow", {}).catch(() => undefined);
    };
  }, [host, id, round]);

  usePush(host, "entries", (told) => {
    if (told.id !== id) return;
    transcript.current.take(told.entries);
    change(() => ({}));
  });
  usePush(host, "deltas", (told) => {
    if (told.id !== id) return;
    for (const delta of told.deltas) transcript.current.delta(delta);
    change(() => ({}));
  });
  usePush(host, "head", (head) => {
    if (head.id === id) change(() => ({ head }));
  });
  usePush(host, "decisions", ({ id: of, ...decisions }) => {
    if (of === id) change(() => ({ decisions }));
  });
  usePush(host, "gone", (told) => {
    if (told.id === id)
      setFollowed({ kind: "failed", message: "This conversation was deleted.", isGone: true });
  });

  const isLoading = useRef(false);
  const loadEarlier = async (): Promise<void> => {
    const before = transcript.current.firstSeq;
    if (before === undefined || isLoading.current) return;
    isLoading.current = true;
    try {
      const { entries, hasEarlier } = await host.ask("earlier", { id, before });
      transcript.current.takeEarlier(entries, hasEarlier);
      change(() => ({}));
    } finally {
      isLoading.current = false;
    }
  };
  return { followed, again: () => setRound((before) => before + 1), loadEarlier };
}
