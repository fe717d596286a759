import { execFileSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../../", import.meta.url));

/** Builds the .vsix of this machine, or takes the one that `LARES_VSIX` names. Returns its path. */
export function makeVsix(): string {
  const made = process.env["LARES_VSIX"];
  if (made !== undefined && made !== "") return made;
  const output = execFileSync(process.execPath, ["vscode-client/build/package.ts"], {
    cwd: repository,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const path = /^(.+\.vsix): /m.exec(output)?.[1];
  if (path === undefined) throw new Error(`It names no .vsix:\n${output}`);
  return path;
}

/** Returns the paths in the unpacked extension. */
export function kernelIn(extension: string): { readonly node: string; readonly executable: string } {
  return {
    node: join(extension, "kernel", "node", "bin", process.platform === "win32" ? "node.exe" : "node"),
    executable: join(extension, "kernel", "lib", "node_modules", "lares", "bin", "lares.js"),
  };
}
