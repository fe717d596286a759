import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Returns the person's editor with its arguments; null if none is configured. */
export function editorOf({ VISUAL, EDITOR }: NodeJS.ProcessEnv): string | null {
  return VISUAL?.trim() || EDITOR?.trim() || null;
}

/**
 * Lets the person edit the text in their editor, which has the terminal meanwhile. The text is in a file that only they
 * can read, in a folder of its own, which is removed afterwards. Rejects if the editor could not be started or failed.
 */
export async function editText(editor: string, path: string, text: Uint8Array): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), "lares-edit-"));
  try {
    const file = join(folder, fileName(path));
    await writeFile(file, text, { mode: 0o600, flag: "wx" });
    await runEditor(editor, file);
    return await readFile(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The extension tells the editor the kind of the text; nothing else of a foreign name gets into a command or a path.
 */
function fileName(path: string): string {
  const base = path.slice(path.lastIndexOf("/") + 1);
  const extension = /\.[A-Za-z0-9]{1,12}$/.exec(base)?.[0] ?? "";
  return `proposed${extension}`;
}

function runEditor(editor: string, file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // Run by a shell, because the variable may contain arguments. `sh` gets the file's name as an argument, not as
    // command text.
    const child =
      process.platform === "win32"
        ? spawn(`${editor} "${file}"`, { stdio: "inherit", shell: true })
        : spawn("/bin/sh", ["-c", `${editor} "$1"`, "lares", file], { stdio: "inherit" });
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) resolve();
      else
        reject(
          new Error(`The editor ended with ${signal ?? `exit code ${code}`}, so the text was not changed.`),
        );
    });
  });
}
