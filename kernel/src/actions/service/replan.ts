import { invalidParams, LaresError, notFound, permissionDenied, stale } from "../../base/errors.ts";
import { canonicalJson, type JsonValue } from "../../base/json.ts";
import type { EffectInput } from "../../base/vocabulary/action.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import { onBehalfField } from "../../base/vocabulary/principal.ts";
import type { ObjectStore } from "../../platform/files/object-store.ts";
import type { ContentEdit } from "../../base/vocabulary/approval.ts";
import type { ActionRecord } from "../action-record.ts";
import type { CpuDebt } from "../cpu-debt.ts";
import type { Operation } from "../operations.ts";
import type { MadeContent } from "../plan.ts";
import type { PlannedAction, Planning, Proposals } from "./proposals.ts";
import { withValue } from "../values.ts";

/** The effects of an action, to be planned again against the current workspace. */
interface Replanned {
  readonly effects: readonly EffectInput[];
  readonly made: ReadonlyMap<number, MadeContent>;
}

type Objects = Pick<ObjectStore, "stream">;

export interface ReplanPorts {
  readonly objects: Objects;
  readonly proposals: Proposals;
  readonly cpuDebt: CpuDebt;
  authorityOf(agent: string): Authority | null;
}

/** Returns the agent's current authority, or throws NotFound if it is no longer installed or enabled. */
export function authorityNow({ authorityOf }: ReplanPorts, agent: string): Authority {
  const authority = authorityOf(agent);
  if (authority === null) throw notFound("enabled extension", agent);
  return authority;
}

/** Plans the effects for the agent of the action. They are not queued behind its own plans: a person waits for them. */
export function planAgain(
  { proposals, cpuDebt }: ReplanPorts,
  authority: Authority,
  { action, program }: ActionRecord,
  { effects, made }: Replanned,
  { id, given }: Pick<Planning, "id" | "given">,
): Promise<PlannedAction> {
  const { agent, title, reason, on_behalf_of: onBehalfOf = [], sources = [] } = action;
  return proposals.plan({
    authority,
    program,
    proposal: { title, reason, effects: [...effects] },
    method: "actions/propose",
    budget: cpuDebt.of(agent),
    made,
    ...(id === undefined ? {} : { id }),
    given: { ...given, ...onBehalfField(onBehalfOf), ...(sources.length === 0 ? {} : { sources }) },
  });
}

/** Returns the action with the person's contents. PermissionDenied if policy forbids the result. */
export async function planEdited(
  ports: ReplanPorts,
  authority: Authority,
  record: ActionRecord,
  edits: readonly ContentEdit[],
): Promise<PlannedAction> {
  const { id, agent, created, key, supersedes, rebased_by: rebasedBy } = record.action;
  const planned = await planAgain(ports, authority, record, await withEdits(ports.objects, record, edits), {
    id,
    given: {
      edited_by: "user",
      ...(key === undefined ? {} : { key }),
      ...(supersedes === undefined ? {} : { supersedes }),
      ...(rebasedBy === undefined ? {} : { rebased_by: rebasedBy }),
    },
  });
  checkSameBases(record.operations, planned.record.operations, edits);
  const { decide, because } = ports.proposals.decide(planned.record);
  if (decide === "deny") throw permissionDenied(agent, "propose_actions", because);
  return { ...planned, record: { ...planned.record, action: { ...planned.record.action, created } } };
}

/** Returns the effects of a stale action, whose contents are to be merged with the current ones. */
export async function toMerge(objects: Objects, record: ActionRecord): Promise<Replanned> {
  const { action, operations } = record;
  const made = new Map<number, MadeContent>();
  for (const [index, operation] of operations.entries()) {
    if (operation.do !== "put") continue;
    made.set(index, {
      from: "merge",
      base: operation.before,
      proposed: await bytesOf(objects, operation.after),
      diff: action.effects[index]?.diff ?? null,
    });
  }
  return { effects: await inputsOf(objects, record), made };
}

/**
 * Returns the effects of a waiting action with some contents replaced by the person's; see `checkSameBases`.
 * InvalidParams for an effect that does not write a file.
 */
async function withEdits(
  objects: Objects,
  record: ActionRecord,
  edits: readonly ContentEdit[],
): Promise<Replanned> {
  const { operations } = record;
  const made = new Map<number, MadeContent>();
  for (const edit of edits) {
    const { effect } = edit;
    const operation = operations[effect];
    if (operation?.do !== "put") {
      throw invalidParams(
        operation === undefined
          ? `There is no effect ${effect}. The action has ${operations.length}, counted from 0.`
          : `Effect ${effect} cannot be edited. Only the contents of file.write and file.edit can.`,
        { effect },
      );
    }
    if (made.has(effect))
      throw invalidParams(`Effect ${effect} is edited twice. Send one content for it.`, { effect });
    const { path } = operation;
    made.set(effect, {
      from: "write",
      input:
        "content" in edit
          ? { kind: "file.write", path, content: edit.content }
          : { kind: "file.write", path, content_base64: edit.content_base64 },
    });
  }
  for (const [index, operation] of operations.entries()) {
    if (operation.do !== "put" || made.has(index)) continue;
    made.set(index, { from: "content", bytes: await bytesOf(objects, operation.after), isJson: false });
  }
  return { effects: await inputsOf(objects, record), made };
}

/**
 * Throws Stale {path} if the edited action starts from another state than the action that the person was shown. Effects
 * on the result of an edited effect are not compared, because they follow from the edit.
 */
function checkSameBases(
  shown: readonly Operation[],
  planned: readonly Operation[],
  edits: readonly ContentEdit[],
): void {
  const edited = new Set(edits.map(({ effect }) => effect));
  const followsEdit = new Set<string>();
  for (const [index, operation] of shown.entries()) {
    const now = planned[index];
    const paths = operation.do === "move" ? [operation.from, operation.to] : [pathOf(operation)];
    const isFree = paths.some((path) => followsEdit.has(path));
    if (edited.has(index)) for (const path of paths) followsEdit.add(path);
    if (
      isFree ||
      (now !== undefined && baseOf(operation, edited.has(index)) === baseOf(now, edited.has(index)))
    )
      continue;
    const [path = ""] = paths;
    throw stale(path, `${JSON.stringify(path)} has changed in the meantime. Nothing was written.`);
  }
}

/**
 * Returns the operation as text for comparison, without a copy that happens to exist elsewhere: that is not part of the
 * change.
 */
function baseOf(operation: Operation, isEdited: boolean): string {
  if (operation.do === "put" && isEdited) return canonicalJson({ before: operation.before });
  if (operation.do !== "remove") return canonicalJson(operation);
  const { remains: _remains, ...rest } = operation;
  return canonicalJson(rest);
}

function pathOf(operation: Exclude<Operation, { do: "move" }>): string {
  return operation.do === "metadata" ? operation.change.path : operation.path;
}

async function inputsOf(objects: Objects, { action, operations }: ActionRecord): Promise<EffectInput[]> {
  const inputs: EffectInput[] = [];
  for (const [index, operation] of operations.entries())
    inputs.push(inputOf(action.effects[index]?.kind, await withValue(objects, operation)));
  return inputs;
}

/** The content of a put is in `Replanned.made`. */
function inputOf(kind: EffectInput["kind"] | undefined, operation: Operation): EffectInput {
  switch (operation.do) {
    case "put": {
      const { path } = operation;
      return kind === "file.edit" ? { kind, path, edits: [] } : { kind: "file.write", path, content: "" };
    }
    case "remove":
      return { kind: "file.delete", path: operation.path };
    case "move":
      return { kind: "file.move", from: operation.from, to: operation.to };
    case "mkdir":
      return { kind: "folder.create", path: operation.path };
    case "metadata":
      return metadataInput(operation.change);
    case "rmdir":
      throw new LaresError("InternalError", "Only an undo removes folders.");
  }
}

function metadataInput(change: Extract<Operation, { do: "metadata" }>["change"]): EffectInput {
  const { path } = change;
  switch (change.kind) {
    case "tag":
      return { kind: change.present ? "tag.add" : "tag.remove", path, tag: change.tag };
    case "field": {
      const { namespace, key, value = null } = change;
      return { kind: "field.set", path, namespace, key, value };
    }
    case "sidecar":
      return { kind: "sidecar.write", path, sidecar: change.sidecar, data: change.data as JsonValue };
  }
}

async function bytesOf(objects: Objects, hash: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of objects.stream(hash as Parameters<Objects["stream"]>[0])) pieces.push(piece);
  return Buffer.concat(pieces);
}
