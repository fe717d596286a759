import type { CpuBudget } from "../base/cpu-budget.ts";
import type { Clock } from "../base/clock.ts";
import type { JsonValue } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { Action } from "../base/vocabulary/action.ts";
import type { ApprovalRule, RememberedRule } from "../base/vocabulary/approval-rule.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { EntryMetadata, MetadataChange } from "../base/vocabulary/metadata.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import type { Lineage } from "../base/vocabulary/principal.ts";
import type { IndexView } from "../policy/sight.ts";
import type { Database, Statement } from "../platform/database/database.ts";
import type { ObjectStore } from "../platform/files/object-store.ts";
import type { WorkspaceFiles } from "../platform/files/workspace-files.ts";
import type { KeptBasis, Origin } from "./basis.ts";
import type {
  ChangedContent,
  ChangeRequest,
  FolderListing,
  HashedValue,
  ListRequest,
} from "./content-requests.ts";
import type { EndedAction } from "./unseen.ts";

/** The metadata of entries. Implemented by the workspace, in the same database. */
export interface MetadataPort {
  /** Returns null if the index does not have the entry. */
  current(path: string): EntryMetadata | null;
  sidecar(path: string, sidecar: string): Promise<{ readonly data: JsonValue } | null>;
  /** Returns all metadata of an entry, as the changes that would restore it. */
  kept(path: string): Promise<readonly MetadataChange[]>;
  /** Returns statements for the transaction that records the action as committed. */
  statements(change: MetadataChange): readonly Statement[];
  /** The same for metadata of a file that this transaction restores: it is set as soon as the index has the file. */
  restore(changes: readonly MetadataChange[]): readonly Statement[];
  /** Called after that transaction, in the same order, for the changes of both. */
  applied(change: MetadataChange): void;
}

/**
 * The work on contents that an agent's proposal causes: reading, editing, comparing, hashing, listing. It can take any
 * amount of time, so it runs where it can be terminated, never on the kernel's event loop. Each method charges the CPU
 * time to the budget and rejects with LimitExceeded if the budget or `actionLimits.workCpuMs` is exceeded.
 */
export interface ContentWork extends AsyncDisposable {
  /** Returns the result of a write, an edit or a removal for a content of at most `previewFileBytes`. */
  change(request: Omit<ChangeRequest, "do">, budget: CpuBudget): Promise<ChangedContent>;
  /** Returns null if there is no file. */
  hash(path: string, budget: CpuBudget): Promise<Hash | null>;
  /** Returns the hash of a metadata value. */
  value(value: JsonValue, budget: CpuBudget): Promise<HashedValue>;
  /**
   * Returns true if a script of the `package.json` at `path` runs one of the files, which are relative to its folder.
   */
  scripts(path: string, files: readonly string[], budget: CpuBudget): Promise<boolean>;
  /** Lists a folder; LimitExceeded beyond `folderMembers`. */
  list(folder: string, move: ListRequest["move"], budget: CpuBudget): Promise<FolderListing>;
}

/** Read on each use, because a person may change the settings while the kernel runs. */
export interface ActionSettings {
  /** The same array as long as no rule changes. */
  readonly rules: readonly ApprovalRule[];
  /** Impact score from 0 to 1; with 0, every change of files is asked. */
  readonly autoApproveBelow: number;
  /** How long an action waits for a person. */
  readonly expireAfterMs: number;
}

export interface ActionPorts {
  readonly database: Database;
  readonly files: WorkspaceFiles;
  readonly contents: ContentWork;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly metadata: MetadataPort;
  settings(): ActionSettings;
  /** Returns the agent's current authority; null if it is no longer installed or enabled. */
  authorityOf(agent: string): Authority | null;
  /** Returns the first of these files that a client has open, under any name, with unsaved changes; otherwise null. */
  openWithUnsavedChanges(paths: readonly string[]): Promise<string | null>;
  /** Returns the paths in the workspace that have this content, according to the index. */
  copies(content: Hash): readonly string[];
  /** What the index lists and excludes. */
  readonly index: IndexView;
  /** Reports that these paths were just changed. */
  touched(paths: readonly string[]): Promise<void>;
  /**
   * Called with an action that an agent proposed, once it is planned and before it is decided or stored. Null: nobody
   * objects. A rejection refuses the proposal.
   */
  beforeAction?(action: Action, lineage: Pick<Lineage, "onBehalfOf" | "begun">): Promise<void> | null;
  /** Throws RequestCancelled for what was stopped. Called directly before a proposal is decided and stored. */
  checkGoesOn?(lineage: Pick<Lineage, "onBehalfOf" | "begun">): void;
  /** Prepares the event that notifies an agent how its action ended; see the inbox. */
  tellEnd(agent: string, end: EndedAction): { readonly statements: readonly Statement[]; committed(): void };
  /** Stores the rules of an "always" answer for the next time, as one decision. */
  remember(rules: readonly RememberedRule[]): Promise<void>;
  /** Returns an empty origin if the rule is gone, or if the setting is not written in a document. */
  originOf(basis: Pick<KeptBasis, "rule" | "setting">): Origin;
  /**
   * Returns statements that count a use of the remembered decisions to which these rules belong; they join the
   * transaction that stores the action.
   */
  used(origins: readonly Origin[]): readonly Statement[];
}
