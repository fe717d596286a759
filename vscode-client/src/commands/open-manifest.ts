import { Range, window, workspace, type Uri } from "vscode";
import { maxManifestBytes } from "../model/agent-files.ts";

/** The number of manifests that are searched. */
const maxManifests = 200;

/**
 * Opens an agent's manifest if it is in the workspace; for an extension from elsewhere, opens the line of the
 * workspace's document that names it. Throws if neither is found.
 */
export async function openManifest(agent: string): Promise<void> {
  const places = [
    { glob: "**/extension.{yaml,yml,toml}", key: /^\s*["']?id["']?\s*[:=]/ },
    { glob: "{lares,*/lares}.{yaml,yml,toml}", key: /(^|[\s{,-])["']?(id|path)["']?\s*[:=]/ },
  ];
  for (const { glob, key } of places) {
    for (const uri of await workspace.findFiles(glob, "**/node_modules/**", maxManifests)) {
      const line = await lineOf(uri, agent, key);
      if (line === null) continue;
      await window.showTextDocument(uri, { selection: new Range(line, 0, line, 0), preview: true });
      return;
    }
  }
  throw new Error(`No manifest and no document in this workspace names ${agent}.`);
}

/** Returns the line that contains this id, counted from 0. */
async function lineOf(uri: Uri, id: string, key: RegExp): Promise<number | null> {
  const { size } = await workspace.fs.stat(uri);
  if (size > maxManifestBytes) return null;
  const text = new TextDecoder().decode(await workspace.fs.readFile(uri));
  const words = new Set(["", '"', "'"].map((quote) => `${quote}${id}${quote}`));
  const line = text
    .split("\n")
    .findIndex((line) => key.test(line) && line.split(/[\s,{}:=]+/).some((word) => words.has(word)));
  return line < 0 ? null : line;
}
