import { unreachable } from "../../base/exhaustive.ts";
import { isLaresError, LaresError, stale, storageError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { failpoint } from "../../platform/failpoint.ts";
import type { ObjectStore } from "../../platform/files/object-store.ts";
import { storageFailure } from "../../platform/files/storage-failure.ts";
import type { WorkspaceFiles } from "../../platform/files/workspace-files.ts";
import { parentOf } from "../../policy/paths.ts";
import { identityOf, type Identity, type Step, type StepPlan } from "../steps.ts";

interface ExecutorPorts {
  readonly files: WorkspaceFiles;
  readonly objects: ObjectStore;
  readonly log: Log;
}

/** Writes the new contents beside their targets. Returns the identities of the files, in the order of the plan. */
export async function stage({ files, objects }: ExecutorPorts, plan: StepPlan): Promise<string[]> {
  const identities: string[] = [];
  for (const { temporary, content, mode, mtimeMs } of plan.staged) {
    failpoint("actions.before-stage");
    const stat = await files.writeNew(temporary, objects.stream(content), {
      ...(mode === undefined ? {} : { mode }),
      ...(mtimeMs === undefined ? {} : { mtimeMs }),
    });
    failpoint("actions.after-stage");
    identities.push(identityOf(stat));
  }
  await syncFolders(
    files,
    plan.staged.map(({ temporary }) => temporary),
  );
  return identities;
}

/** Returns an error of a commit that names files by the action's paths, not by their temporary names. */
export function withPlainPaths(error: unknown, { staged, steps }: StepPlan): unknown {
  if (!isLaresError(error)) return error;
  let { message } = error;
  const rename = (from: string | undefined, to: string): void => {
    if (from !== undefined) message = message.replaceAll(JSON.stringify(from), () => JSON.stringify(to));
  };
  for (const step of steps) {
    if ("staged" in step) rename(staged[step.staged]?.temporary, step.path);
    if ("backup" in step) rename(step.backup, step.path);
  }
  return message === error.message
    ? error
    : new LaresError(error.code, message, error.facts, { cause: error });
}

/** Takes the steps in order and syncs to disk. After an error, the caller has to `revert`. */
export async function apply(
  ports: ExecutorPorts,
  plan: StepPlan,
  identities: readonly string[],
): Promise<void> {
  for (const step of plan.steps) {
    failpoint("actions.before-step");
    await take(ports.files, plan, step, identities);
    failpoint("actions.after-step");
  }
  failpoint("actions.before-sync");
  await syncFolders(ports.files, pathsOf(plan));
  failpoint("actions.after-sync");
}

async function take(
  files: WorkspaceFiles,
  plan: StepPlan,
  step: Step,
  identities: readonly string[],
): Promise<void> {
  switch (step.kind) {
    case "mkdir":
      return files.mkdir(step.path);
    case "rmdir":
      await files.rmdir(step.path);
      return;
    case "place":
      return files.rename(temporaryOf(plan, step.staged), step.path);
    case "replace": {
      await expectIdentity(files, step.path, step.identity, identities);
      // The old file has a name at every moment, and the path always has a file.
      const linked = await files.link(step.path, step.backup);
      failpoint("actions.within-step");
      if (linked) await expectIdentity(files, step.backup, step.identity, identities);
      else await copyBeside(files, step.path, step.backup);
      return files.replace(temporaryOf(plan, step.staged), step.path);
    }
    case "remove":
      await expectIdentity(files, step.path, step.identity, identities);
      return files.rename(step.path, step.backup);
    case "rename":
      await expectIdentity(files, step.from, step.identity, identities);
      return files.rename(step.from, step.to);
    default:
      return unreachable(step);
  }
}

async function expectIdentity(
  files: WorkspaceFiles,
  path: string,
  identity: Identity,
  identities: readonly string[],
): Promise<void> {
  const stat = await files.stat(path);
  if (stat === null || identityOf(stat) !== resolve(identity, identities)) {
    throw stale(path, `${JSON.stringify(path)} was replaced while the action was being committed.`);
  }
}

/**
 * Restores the workspace to the state before the first step, whichever steps were taken and however often this was
 * tried before: a step is undone if what it moved is found at its new name. Paths that somebody else changed meanwhile
 * are left alone and returned.
 */
export async function revert(
  ports: ExecutorPorts,
  plan: StepPlan,
  identities: readonly string[],
): Promise<{ readonly kept: readonly string[] }> {
  const kept: string[] = [];
  for (const step of plan.steps.toReversed()) {
    failpoint("actions.before-revert");
    const left = await revertStep(ports, plan, step, identities);
    failpoint("actions.after-revert");
    if (left !== null) kept.push(left);
  }
  await syncFolders(ports.files, pathsOf(plan));
  return { kept };
}

/** Undoes one step. Returns null, or the path that could not be restored because somebody else changed it. */
async function revertStep(
  ports: ExecutorPorts,
  plan: StepPlan,
  step: Step,
  identities: readonly string[],
): Promise<string | null> {
  const { files } = ports;
  switch (step.kind) {
    case "mkdir":
      if ((await files.stat(step.path))?.kind === "folder") await files.rmdir(step.path);
      return null;
    case "rmdir":
      if ((await files.stat(step.path)) === null) await files.mkdir(step.path);
      return null;
    case "place":
    case "replace": {
      const staged = identities[step.staged];
      const temporary = temporaryOf(plan, step.staged);
      const placed = await files.stat(step.path);
      if (placed === null || staged === undefined || identityOf(placed) !== staged) return null;
      if ((await files.hashFile(step.path)) !== plan.staged[step.staged]?.content)
        return left(ports, step.path);
      if (step.kind === "replace") await files.replace(step.backup, step.path);
      // A half-finished rename: the file still has its temporary name too.
      else if ((await files.stat(temporary)) !== null) await files.unlink(step.path);
      else await files.rename(step.path, temporary);
      return null;
    }
    case "remove":
      return moveBack(ports, step.backup, step.path, resolve(step.identity, identities));
    case "rename":
      return moveBack(ports, step.to, step.from, resolve(step.identity, identities));
    default:
      return unreachable(step);
  }
}

async function moveBack(
  ports: ExecutorPorts,
  at: string,
  to: string,
  identity: string,
): Promise<string | null> {
  const { files } = ports;
  const moved = await files.stat(at);
  if (moved === null || identityOf(moved) !== identity) return null;
  const target = await files.stat(to);
  if (target === null) await files.rename(at, to);
  else if (identityOf(target) === identity) await files.unlink(at);
  else return left(ports, at);
  return null;
}

function left(ports: ExecutorPorts, path: string): string {
  ports.log.error(
    "Another program changed a file during an interrupted action. The file was left unchanged.",
    {
      path,
    },
  );
  return path;
}

/** Removes the staged files and backups beside the targets, except those in `keep`. */
export async function discard(
  ports: ExecutorPorts,
  plan: StepPlan,
  keep: readonly string[] = [],
): Promise<void> {
  const names = [
    ...plan.staged.map(({ temporary }) => temporary),
    ...plan.steps.flatMap((step) => ("backup" in step ? [step.backup] : [])),
  ];
  for (const name of names) {
    if (keep.includes(name)) continue;
    failpoint("actions.before-discard");
    await unlinkIfExists(ports.files, name);
    failpoint("actions.after-discard");
  }
}

async function unlinkIfExists(files: WorkspaceFiles, path: string): Promise<void> {
  try {
    await files.unlink(path);
  } catch (error) {
    if (!isLaresError(error, "NotFound")) throw error;
  }
}

/** Throws Stale if a file that was replaced or removed is no longer the one that was compared with the preview. */
export async function verifyBackups({ files }: ExecutorPorts, plan: StepPlan): Promise<void> {
  for (const step of plan.steps) {
    if (!("backup" in step) || step.was === undefined) continue;
    const now = await files.stat(step.backup);
    if (now?.mtimeMs === step.was.mtimeMs && now.size === step.was.size) continue;
    throw stale(
      step.path,
      `${JSON.stringify(step.path)} was written to while the action was being committed.`,
    );
  }
}

async function copyBeside(files: WorkspaceFiles, path: string, backup: string): Promise<void> {
  const stat = await files.stat(path);
  if (stat === null) throw stale(path, `${JSON.stringify(path)} is gone.`);
  await files.writeNew(backup, files.readStream(path), { mode: stat.mode, mtimeMs: stat.mtimeMs });
}

function temporaryOf(plan: StepPlan, staged: number): string {
  const found = plan.staged[staged];
  if (found === undefined)
    throw storageError(`The plan refers to a staged file ${staged} that it does not contain.`);
  return found.temporary;
}

function resolve(identity: Identity, identities: readonly string[]): string {
  if ("known" in identity) return identity.known;
  const found = identities[identity.staged];
  if (found === undefined)
    throw storageError(`The plan refers to a staged file ${identity.staged} that was not written.`);
  return found;
}

function pathsOf(plan: StepPlan): string[] {
  return [
    ...plan.staged.map(({ temporary }) => temporary),
    ...plan.steps.flatMap((step) => (step.kind === "rename" ? [step.from, step.to] : [step.path])),
  ];
}

/** Syncs the folders of these paths to disk. Folders that no longer exist are skipped. */
async function syncFolders(files: WorkspaceFiles, paths: readonly string[]): Promise<void> {
  for (const folder of new Set(paths.map((path) => parentOf(path) ?? "."))) {
    try {
      await files.syncFolder(folder);
    } catch (error) {
      if (!isLaresError(error, "NotFound"))
        throw storageFailure(`The folder ${JSON.stringify(folder)} could not be synced to disk`, error);
    }
  }
}
