import type { Status } from "../protocol.ts";
import { count, label } from "./text.ts";

/** What a person is asked to allow: bound to the digest of what is shown. */
export interface TrustQuestion {
  readonly digest: Status["trust"]["digest"];
  readonly title: string;
  /** What would be allowed, one sentence each: all of it. */
  readonly asks: readonly string[];
}

/** The question that is open, or null where all that the workspace asks for is allowed already. */
export function trustQuestion(status: Status | undefined): TrustQuestion | null {
  if (status === undefined) return null;
  const { digest, asks, pending, changedPrograms } = status.trust;
  if (pending.length === 0 && status.trusted) return null;
  const sentences = (pending.length > 0 ? pending : asks).map(sentence);
  if (pending.length > 0 && changedPrograms.length > 0)
    return {
      digest,
      title: `Allow the changed ${changedPrograms.length === 1 ? "program" : "programs"} of ${changedPrograms.map((id) => label(id)).join(", ")}?`,
      asks: sentences,
    };
  return {
    digest,
    title:
      sentences.length === 0
        ? "Let Lares work in this workspace?"
        : `This workspace asks for ${count(sentences.length, "thing")}. Allow ${sentences.length === 1 ? "it" : "them"}?`,
    asks: sentences,
  };
}

/** As the kernel's sentence, with a capital letter; whole, however long: what is left out would be allowed unseen. */
function sentence(text: string): string {
  const plain = label(text, Number.POSITIVE_INFINITY);
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}
