import { readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { createTwoFilesPatch } from "diff";
import { LaresError, systemCode } from "../../base/errors.ts";
import { laresNames } from "../../documents/names.ts";
import { writeFileAtomically } from "../../platform/files/atomic-file.ts";
import { maxDocumentBytes } from "../../platform/files/document-files.ts";
import { renderDiff } from "../render/diff.ts";
import { oneLine } from "../render/foreign.ts";
import type { Surface } from "../render/style.ts";
import { writeSchema } from "../schema-file.ts";
import {
  emptyDocument,
  withExtension,
  withoutExtension,
  type DocumentEdit,
  type EntryGrants,
} from "./document-edit.ts";

/** A change of a workspace's document that a person is shown before it is made. */
interface ShownEdit {
  /** Absolute, links resolved. */
  readonly file: string;
  /** Null if there is no document yet. */
  readonly before: string | null;
  readonly after: string;
}

/** Returns the edit that enables an extension. Throws InvalidDocument if a person has to make it. */
export async function editToEnable(folder: string, id: string, grants: EntryGrants): Promise<ShownEdit> {
  const { file, text } = await documentIn(folder);
  const edit = withExtension(text ?? emptyDocument, formatOf(file), id, grants);
  return { file, before: text, after: textOf(edit, file, `- id: ${id}`) };
}

/** Returns the edit that takes an extension out; null if the document does not name it. */
export async function editToRemove(folder: string, id: string): Promise<ShownEdit | null> {
  const { file, text } = await documentIn(folder);
  if (text === null || !text.includes(id)) return null;
  const after = textOf(withoutExtension(text, formatOf(file), id), file, "");
  return after === text ? null : { file, before: text, after };
}

export function renderEdit({ file, before, after }: ShownEdit, surface: Surface): string[] {
  if (before === after) return [];
  const patch = createTwoFilesPatch("before", "after", before ?? "", after, "", "", { context: 2 });
  return [
    `${before === null ? "New file" : "Change"}: ${oneLine(file)}`,
    ...renderDiff(patch, surface).map((line) => `  ${line}`),
  ];
}

/** For programs: which document an edit changes; null if it changes none. */
export function shownDocument(
  edit: ShownEdit | null,
): { readonly file: string; readonly isNew: boolean } | null {
  if (edit === null || edit.before === edit.after) return null;
  return { file: edit.file, isNew: edit.before === null };
}

/** Writes the edit unless the document has changed since it was read. Conflict. */
export async function writeEdit(folder: string, { file, before, after }: ShownEdit): Promise<void> {
  if (before === after) return;
  const now = await textIn(file);
  if (now !== before)
    throw new LaresError(
      "Conflict",
      `${file} was changed meanwhile, so it was left as it is. Run this again.`,
    );
  if (before === null) await writeSchema(folder, "lares.schema.json");
  const mode = before === null ? 0o644 : (await stat(file)).mode & 0o777;
  await writeFileAtomically(file, after, { mode });
}

async function documentIn(folder: string): Promise<{ readonly file: string; readonly text: string | null }> {
  for (const name of laresNames) {
    const named = join(folder, name);
    const file = await realpath(named).catch((error: unknown) => {
      if (systemCode(error) === "ENOENT") return null;
      throw error;
    });
    if (file === null) continue;
    const way = relative(await realpath(folder), file);
    if (way.startsWith("..") || isAbsolute(way))
      throw new LaresError(
        "ScopeViolation",
        `${named} is a link out of the workspace, to ${file}, so it is not changed. Change it yourself.`,
        { path: named },
      );
    return { file, text: await textIn(file) };
  }
  return { file: join(folder, laresNames[0]), text: null };
}

async function textIn(file: string): Promise<string | null> {
  try {
    const bytes = await readFile(file);
    if (bytes.length > maxDocumentBytes) throw new LaresError("LimitExceeded", `${file} is too long.`);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    if (error instanceof TypeError) throw new LaresError("InvalidDocument", `${file} is not UTF-8.`);
    throw error;
  }
}

const formatOf = (file: string): "yaml" | "toml" => (file.endsWith(".toml") ? "toml" : "yaml");

function textOf(edit: DocumentEdit, file: string, line: string): string {
  if ("text" in edit) return edit.text;
  const by = line === "" ? "" : ` Add this under extensions yourself: ${line}`;
  throw new LaresError(
    "InvalidDocument",
    `${basename(dirname(file))}/${basename(file)} cannot be changed: ${edit.fault}.${by}`,
    { path: file },
  );
}
