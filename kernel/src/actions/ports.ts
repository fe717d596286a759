import type { CpuBudget } from "../base/cpu-budget.ts";
import type { Clock } from "../base/clock.ts";
import type { JsonValue } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { ApprovalRule, RememberedRule } from "../base/vocabulary/action.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { EntryMetadata, MetadataChange } from "../base/vocabulary/metadata.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import type { IndexView } from "../policy/sight.ts";
import type { Database, Statement } from "../platform/database.ts";
import type { ObjectStore } from "../platform/object-store.ts";
import type { WorkspaceFiles } from "../platform/workspace-files.ts";
import type {
  ChangedContent,
  ChangeRequest,
  FolderListing,
  HashedValue,
  ListRequest,
} from "./content-requests.ts";
import type { Origin, PersonPorts } from "./person.ts";

/** What is kept beside entries; implemented by the workspace, in the same database. */
export interface MetadataPort {
  /** Null if the index does not know the entry. */
  current(path: string): EntryMetadata | null;
  sidecar(path: string, sidecar: string): Promise<{ readonly data: JsonValue } | null>;
  /** All of it, as the changes that would bring it back. */
  kept(path: string): Promise<readonly MetadataChange[]>;
  /** Join the transaction that records the action as committed. */
  statements(change: MetadataChange): readonly Statement[];
  /** The same, beside a file that comes back with that transaction: set as soon as the index knows it. */
  restore(changes: readonly MetadataChange[]): readonly Statement[];
  /** Called after that transaction, in the same order, for the changes of both. */
  applied(change: MetadataChange): void;
}

/**
 * The work on contents that an agent's proposal causes: reading, editing, comparing, hashing, listing. It may take any
 * amount of time, so it happens where it can be ended, and never on the kernel's loop. Each method charges the CPU time to
 * the budget and rejects with LimitExceeded where that, or `actionLimits.workCpuMs`, does not do.
 */
export interface ContentWork extends AsyncDisposable {
  /** What a write, an edit or a removal makes of a content of at most `previewFileBytes`. */
  change(request: Omit<ChangeRequest, "do">, budget: CpuBudget): Promise<ChangedContent>;
  /** Null where there is no file. */
  hash(path: string, budget: CpuBudget): Promise<Hash | null>;
  /** Of a value that is kept beside an entry. */
  value(value: JsonValue, budget: CpuBudget): Promise<HashedValue>;
  /** Walks a folder; LimitExceeded beyond `folderMembers`. */
  list(folder: string, move: ListRequest["move"], budget: CpuBudget): Promise<FolderListing>;
}

/** Read each time they are needed: a person may change them while the kernel runs. */
export interface ActionSettings {
  /** The same list as long as none of them changed. */
  readonly rules: readonly ApprovalRule[];
  /** Impact score; 0: everything that changes files is asked. */
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
  /** The agent's authority now; null if it is no longer installed or enabled. */
  authorityOf(agent: string): Authority | null;
  /** The first of these files that a client has open, under whatever name, with changes it did not save; or null. */
  openWithUnsavedChanges(paths: readonly string[]): Promise<string | null>;
  /** Where this content is in the workspace, as far as the index knows. */
  copies(content: Hash): readonly string[];
  /** What the index lists and leaves out. */
  readonly index: IndexView;
  /** These paths were just changed. */
  touched(paths: readonly string[]): Promise<void>;
  /** Keeps what the person answered with "always", for the next time: one decision. */
  remember(rules: readonly RememberedRule[]): Promise<void>;
  readonly originOf: PersonPorts["originOf"];
  /** Count the remembered decisions to which these rules belong; they join the transaction that stores the action. */
  used(origins: readonly Origin[]): readonly Statement[];
}
