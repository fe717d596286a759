import { window, WorkspaceEdit, type TextDocument } from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { explain } from "../deciding/explain.ts";

/** How long a rename waits for the kernel before the language's own provider is asked without it. */
const patienceMs = 5_000;

/** True for files that may be programs, whose handlers are also named in a manifest. */
export function mayBeProgram({ uri }: Pick<TextDocument, "uri">): boolean {
  return /\.[cm]?[jt]s$/.test(uri.path);
}

/**
 * Renames in files that may be programs. VS Code asks an extension's provider before its built-in ones, and asks the
 * next one if there is no answer: the kernel answers for a handler's name, TypeScript for everything else.
 */
export const programRenames = {
  prepareRename: async (document, position, token, next) => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), patienceMs);
    });
    try {
      return await Promise.race([next(document, position, token), late]);
    } catch {
      // This tells VS Code that the kernel has nothing to rename here. An error would be shown beside that of
      // TypeScript, which knows the reason.
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  },
  provideRenameEdits: async (document, position, newName, token, next) => {
    try {
      return await next(document, position, newName, token);
    } catch (error) {
      if (token.isCancellationRequested) return undefined;
      // After an error, VS Code would ask TypeScript next, which renames in the program but not in the manifest.
      void window.showErrorMessage(`Not renamed: ${explain(error)}`);
      return new WorkspaceEdit();
    }
  },
} satisfies Middleware;
