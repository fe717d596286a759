import { commands, Disposable, window, type LogOutputChannel } from "vscode";
import type { Feature } from "../feature.ts";
import type { KernelState } from "../kernel/kernel.ts";
import { message } from "../model/text.ts";
import { reporting } from "../deciding/explain.ts";

interface KernelControl {
  /** Ends the running process and starts another. */
  restart(): Promise<void>;
  readonly log: Pick<LogOutputChannel, "show">;
}

const restart = "Restart";
const showLog = "Show Log";

/** Commands about the kernel itself, and the message about a kernel that cannot be kept running. */
export function kernelCommands(control: KernelControl): Feature {
  const restarted = (): Promise<void> => reporting("The kernel cannot be restarted", () => control.restart());
  const answered = async (answer: string | undefined): Promise<void> => {
    if (answer === restart) await restarted();
    if (answer === showLog) control.log.show();
  };
  return ({ kernel }) => {
    let isSilent = false;
    const tell = (state: KernelState): void => {
      if (state.kind === "failed")
        void window
          .showErrorMessage(`Lares is not running: ${message(state.reason)}`, restart, showLog)
          .then(answered);
      // The reason may change with each check; one message is enough.
      if (state.kind === "silent" && !isSilent)
        void window
          .showWarningMessage(`Lares' kernel does not answer: ${message(state.reason)}`, restart, showLog)
          .then(answered);
      isSilent = state.kind === "silent";
    };
    // A kernel that cannot be started has failed before anything listened.
    tell(kernel.state);
    return Disposable.from(
      commands.registerCommand("lares.restartKernel", restarted),
      commands.registerCommand("lares.showKernelLog", () => control.log.show()),
      kernel.onDidChangeState(tell),
    );
  };
}
