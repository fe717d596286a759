import type { EffectInput } from "../../base/vocabulary/action.ts";
import type { ApprovalSubject } from "../../policy/approval.ts";
import {
  protectionOf,
  protectionReason,
  strictest,
  type ProtectedPlaces,
  type Protection,
} from "../../policy/protected.ts";
import type { IndexView } from "../../policy/sight.ts";
import { whyAsked } from "../unseen.ts";

/** What an effect touches besides its own paths. */
interface SubjectParts {
  /** Folders that are created on the way. */
  readonly made?: readonly string[];
  /** Members of a folder that is moved, as far as the agent sees them. */
  readonly members?: SeenMembers | undefined;
  /** Something there can be executed, or could be afterwards. */
  readonly runs?: boolean;
}

export interface SeenMembers {
  /** Relative to the folder. */
  readonly paths: readonly string[];
  /** The strictest protection of the members, at their old and their new paths. */
  readonly protection: Protection;
}

/** Builds the subjects of approval rules from effects. */
export class Subjects {
  readonly #places: ProtectedPlaces;
  readonly #index: Pick<IndexView, "isRules">;

  constructor(places: ProtectedPlaces, index: Pick<IndexView, "isRules">) {
    this.#places = places;
    this.#index = index;
  }

  of(kind: EffectInput["kind"], paths: readonly string[], parts: SubjectParts = {}): ApprovalSubject {
    const { made = [], members } = parts;
    const protection = this.#protection([...paths, ...made], parts);
    return {
      kind,
      paths,
      ...(made.length === 0 ? {} : { makes: made }),
      ...(members === undefined ? {} : { members: members.paths }),
      protection,
      ...(protection === "protected" ? { whyProtected: this.#whyProtected([...paths, ...made], parts) } : {}),
      ...(paths.some((path) => this.#index.isRules(path)) ? { alwaysAsked: whyAsked.rules } : {}),
    };
  }

  protectedFact(
    paths: readonly string[],
    parts: Pick<SubjectParts, "members" | "runs"> = {},
  ): { protected?: true } {
    return this.#protection(paths, parts) === "none" ? {} : { protected: true };
  }

  #whyProtected(paths: readonly string[], { runs = false }: SubjectParts): string {
    for (const path of paths) {
      const reason = protectionReason(path, this.#places);
      if (reason !== null) return reason;
    }
    return runs
      ? "It can be executed, or a script of a package runs it."
      : "Something in the folder is protected.";
  }

  #protection(paths: readonly string[], { members, runs = false }: SubjectParts): Protection {
    return strictest([
      runs ? "protected" : "none",
      members?.protection ?? "none",
      ...paths.map((path) => protectionOf(path, this.#places)),
    ]);
  }
}
