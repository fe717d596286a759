import { compileGlob } from "../base/glob.ts";
import { plainLine } from "../base/plain-text.ts";
import { leavesFolder, plainPath } from "./plain-path.ts";
import type { ExtensionFiles, FileText } from "./ports.ts";
import type { MindFiles, SkillFile } from "./resolved-manifest.ts";
import { maxMindBytes, maxMindFileBytes, maxSkills } from "./schema/mind.ts";
import { readSkill } from "./skill.ts";
import { present, type SoundExtension } from "./sound-part.ts";
import { diagnostic, type Diagnostic } from "./text/diagnostics.ts";
import { pointerTo, type ParsedDocument } from "./text/source.ts";
import { nextTurn } from "./text/turns.ts";

/** Folders that are looked into for skills, and how deep. */
const maxFoldersListed = 256;
const maxGlobDepth = 5;

/** Reads every text that a manifest names for its mind, and returns them with what is wrong. Nothing is read without `files`. */
export async function readMindFiles(
  extension: SoundExtension,
  document: ParsedDocument,
  files: ExtensionFiles | undefined,
): Promise<{ readonly files: MindFiles; readonly diagnostics: Diagnostic[] }> {
  if (files === undefined) return { files: { texts: [], skills: [] }, diagnostics: [] };
  const reader = new MindReader(document, files);
  for (const [pointer, path] of namedTexts(extension)) await reader.readNamed(pointer, path);
  for (const [index, pattern] of present(extension.mind?.skills)) {
    await nextTurn();
    await reader.readSkills(pointerTo("/extension/mind/skills", index), pattern);
  }
  return { files: reader.found(), diagnostics: reader.diagnostics };
}

/** Returns the texts that a manifest names by path, with the place of each name. */
function namedTexts({ mind, hooks, commands }: SoundExtension): [pointer: string, path: string][] {
  const at = (...keys: (string | number)[]): string => pointerTo("/extension", ...keys);
  const texts: [string, string | undefined][] = [
    ...present(mind?.identity).map(([index, path]): [string, string] => [
      at("mind", "identity", index),
      path,
    ]),
    ...Object.entries(mind?.prompts ?? {}).map(([kind, path]): [string, string] => [
      at("mind", "prompts", kind),
      path,
    ]),
    ...Object.entries(mind?.workers ?? {}).map(([name, { prompt }]): [string, string | undefined] => [
      at("mind", "workers", name, "prompt"),
      prompt,
    ]),
    ...present(hooks).map(([index, { prompt }]): [string, string | undefined] => [
      at("hooks", index, "prompt"),
      prompt,
    ]),
    ...present(commands).map(([index, { prompt }]): [string, string | undefined] => [
      at("commands", index, "prompt"),
      prompt,
    ]),
  ];
  return texts.flatMap(([pointer, path]) => (path === undefined ? [] : [[pointer, path]]));
}

class MindReader {
  readonly diagnostics: Diagnostic[] = [];
  readonly #document: ParsedDocument;
  readonly #files: ExtensionFiles;
  readonly #texts = new Map<string, string>();
  readonly #skills = new Map<string, SkillFile>();
  #charactersLeft = maxMindBytes;
  #listed = 0;

  constructor(document: ParsedDocument, files: ExtensionFiles) {
    this.#document = document;
    this.#files = files;
  }

  found(): MindFiles {
    const byPath = <Item extends { readonly path: string }>(items: Iterable<Item>): Item[] =>
      [...items].toSorted((a, b) => (a.path < b.path ? -1 : 1));
    return {
      texts: byPath([...this.#texts].map(([path, text]) => ({ path, text }))),
      skills: byPath(this.#skills.values()),
    };
  }

  /** Reads a text that the manifest names at the pointer. */
  async readNamed(pointer: string, written: string): Promise<void> {
    if (leavesFolder(written) || plainPath(written) === "") {
      const message = `"${written}" does not lie in the extension's folder. Name a file in it by its relative path, with "/".`;
      this.#report("file-outside", pointer, message);
      return;
    }
    await this.#read(pointer, plainPath(written));
  }

  /** Returns null for a text that cannot be read, which is reported. */
  async #read(pointer: string, path: string): Promise<string | null> {
    const known = this.#texts.get(path);
    if (known !== undefined) return known;
    const file = await this.#files.read(path, maxMindFileBytes);
    if (file.text === null) {
      this.#refused(pointer, path, file);
      return null;
    }
    this.#charactersLeft -= file.text.length;
    if (this.#charactersLeft < 0) {
      const message = `With "${path}", the texts of this extension's mind are larger than ${maxMindBytes} bytes together. Make them shorter.`;
      this.#report("file-too-large", pointer, message);
      return null;
    }
    this.#texts.set(path, file.text);
    return file.text;
  }

  #refused(pointer: string, path: string, { refused, size }: FileText & { text: null }): void {
    switch (refused) {
      case "missing":
        this.#report(
          "file-not-found",
          pointer,
          `"${path}" does not exist. Write the file, or name another one.`,
        );
        return;
      case "no-file":
        this.#report("file-not-found", pointer, `"${path}" is not a file. Name a text file.`);
        return;
      case "outside":
        this.#report(
          "file-outside",
          pointer,
          `"${path}" is a link out of the extension's folder. Put the file itself there.`,
        );
        return;
      case "too-large":
        this.#report(
          "file-too-large",
          pointer,
          `"${path}" has ${size} bytes; a text of a mind may have ${maxMindFileBytes}. Make it shorter.`,
        );
        return;
      case "encoding":
        this.#report("file-unreadable", pointer, `"${path}" is not a text in UTF-8. Save it as UTF-8.`);
        return;
      case "no-room":
        this.#report(
          "file-too-large",
          pointer,
          `"${path}" is not read: the texts of all extensions here are too large together. Remove extensions.`,
        );
        return;
      case "unreadable":
        this.#report("file-unreadable", pointer, `"${path}" may not be read. Change its permissions.`);
    }
  }

  /** Reads the skills of all folders that a pattern names. */
  async readSkills(pointer: string, pattern: string): Promise<void> {
    if (leavesFolder(pattern)) {
      const message = `"${pattern}" does not lie in the extension's folder. Name a folder in it, as in skills/*.`;
      this.#report("file-outside", pointer, message);
      return;
    }
    const glob = compileGlob(plainPath(pattern));
    if (!glob.ok) {
      this.#report("invalid-glob", pointer, glob.message);
      return;
    }
    const parts = plainPath(pattern).split("/");
    const isGlob = (part: string): boolean => /[*?[\]{}\\]/.test(part);
    const literal = parts.slice(0, parts.findIndex(isGlob));
    if (!parts.some(isGlob)) {
      await this.#readSkill(pointer, parts.join("/"));
      return;
    }
    const depth = parts.includes("**") ? maxGlobDepth : parts.length;
    const folders = await this.#matching(pointer, literal, depth, glob.matches);
    if (folders.length === 0)
      this.#report(
        "invalid-skill",
        pointer,
        `No folder matches "${pattern}". Each skill is a folder with a SKILL.md.`,
      );
    for (const folder of folders) await this.#readSkill(pointer, folder);
  }

  async #matching(
    pointer: string,
    parts: readonly string[],
    depth: number,
    matches: (path: string) => boolean,
  ): Promise<string[]> {
    if (parts.length >= depth || ++this.#listed > maxFoldersListed) return [];
    const found: string[] = [];
    for (const { name, state } of await this.#files.folders(parts.join("/"))) {
      const inside = [...parts, name];
      const path = inside.join("/");
      if (matches(path)) {
        if (state === "folder") found.push(path);
        else {
          const message = `"${path}" is a link out of the extension's folder. Put the skill itself there.`;
          this.#report("file-outside", pointer, message);
        }
      }
      if (state === "folder") found.push(...(await this.#matching(pointer, inside, depth, matches)));
    }
    return found;
  }

  async #readSkill(pointer: string, folder: string): Promise<void> {
    const path = `${folder}/SKILL.md`;
    const invalid = (message: string): void => this.#report("invalid-skill", pointer, message);
    if (this.#skills.has(path)) return;
    if (this.#skills.size >= maxSkills) {
      invalid(`"${folder}" is left out: a mind has at most ${maxSkills} skills.`);
      return;
    }
    const file = await this.#files.read(path, maxMindFileBytes);
    if (file.refused === "missing") {
      invalid(`The folder "${folder}" has no SKILL.md. Write one, or leave the folder out.`);
      return;
    }
    const text = await this.#read(pointer, path);
    if (text === null) return;
    const skill = readSkill(text);
    if (typeof skill === "string") {
      this.#texts.delete(path);
      invalid(`"${path}" ${skill}`);
      return;
    }
    const same = [...this.#skills.values()].find(({ name }) => name === skill.name);
    if (same !== undefined) {
      this.#texts.delete(path);
      invalid(
        `"${path}" has the same name as "${same.path}": ${plainLine(skill.name)}. Give it another one.`,
      );
      return;
    }
    this.#skills.set(path, { path, ...skill });
  }

  #report(code: Diagnostic["code"], pointer: string, message: string): void {
    this.diagnostics.push(diagnostic(code, this.#document.locate(pointer), message));
  }
}
