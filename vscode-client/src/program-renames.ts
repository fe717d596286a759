import { window, WorkspaceEdit, type TextDocument } from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { explain } from "./commands/explain.ts";

/** So long a rename waits for the kernel before its language's own provider is asked without it. */
const patienceMs = 5_000;

/** Files that may be programs, whose handlers are named in a manifest as well. */
export function mayBeProgram({ uri }: Pick<TextDocument, "uri">): boolean {
  return /\.[cm]?[jt]s$/.test(uri.path);
}

/**
 * Renames in what may be a program. VS Code asks an extension's provider before its built-in ones, and the next one
 * where it has no answer: the kernel answers on a handler's name, and TypeScript on everything else.
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
      // So the library says that nothing of the kernel's stands here. VS Code would show its sentence beside that of
      // TypeScript, which knows why.
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
      // A refusal would have VS Code ask TypeScript next, which renames in the program and not in the manifest.
      void window.showErrorMessage(`Not renamed: ${explain(error)}`);
      return new WorkspaceEdit();
    }
  },
} satisfies Middleware;
