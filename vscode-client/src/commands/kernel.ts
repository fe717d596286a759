import { commands, Disposable, Uri, window, type LogOutputChannel } from "vscode";
import type { Feature } from "../feature.ts";
import { message } from "../model/text.ts";
import { reporting } from "./explain.ts";

export interface KernelControl {
  /** Ends the process that runs and starts another. */
  restart(): Promise<void>;
  readonly log: Pick<LogOutputChannel, "show">;
}

const restart = "Restart";
const showLog = "Show Log";

/** Commands about the kernel itself, and the word about one that cannot be kept running. */
export function kernelCommands(control: KernelControl): Feature {
  return ({ kernel, models }) =>
    Disposable.from(
      commands.registerCommand("lares.restartKernel", () =>
        reporting("The kernel cannot be restarted", () => control.restart()),
      ),
      commands.registerCommand("lares.showKernelLog", () => control.log.show()),
      commands.registerCommand("lares.openDecisions", () =>
        reporting("The remembered decisions cannot be opened", async () => {
          const folder = models.status.current?.stateFolder;
          if (folder === undefined) throw new Error("The kernel is not running.");
          await openDecisions(folder);
        }),
      ),
      kernel.onDidChangeState((state) => {
        if (state.kind !== "failed") return;
        void window
          .showErrorMessage(`Lares is not running: ${message(state.reason)}`, restart, showLog)
          .then((answer) => {
            if (answer === restart) return control.restart();
            if (answer === showLog) control.log.show();
            return undefined;
          });
      }),
    );
}

async function openDecisions(stateFolder: string): Promise<void> {
  try {
    await window.showTextDocument(Uri.joinPath(Uri.file(stateFolder), "decisions.yaml"));
  } catch {
    void window.showInformationMessage(
      "Nothing is remembered for this workspace yet. “Always Approve These” and what you allow a workspace are written down there.",
    );
  }
}
