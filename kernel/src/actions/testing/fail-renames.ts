import { onTestFinished, vi } from "vitest";
import { WorkspaceFiles } from "../../platform/files/workspace-files.ts";

/** Makes the system refuse to give a file this name, which planning cannot foresee. */
export function failRenames(name: string): void {
  const { rename } = WorkspaceFiles.prototype;
  const failing = vi.spyOn(WorkspaceFiles.prototype, "rename").mockImplementation(function (
    this: WorkspaceFiles,
    from,
    to,
  ) {
    return rename.call(this, from, to === name ? `n/${"x".repeat(256)}` : to);
  });
  onTestFinished(() => failing.mockRestore());
}
