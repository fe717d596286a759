import { createInterface } from "node:readline/promises";
import { exitCodes, folderNamed, UsageError, withReadyKernel, type CommandContext } from "../command.ts";
import { layOutPlayground } from "../playground/place.ts";
import { PlaygroundSession } from "../playground/session.ts";
import { readTensors } from "../playground/tensors.ts";
import { followAsks } from "../run/asks.ts";
import { withEnvironment } from "../run/environment.ts";
import { whenGone } from "../run/process-end.ts";

interface PlaygroundOptions {
  readonly inspect?: boolean;
  /** A file with the tensors that stand for the extension's models. */
  readonly tensors?: string;
}

/** Starts a kernel on an empty workspace, and runs what a person types in an agent of its own, or what a pipe brings. */
export async function playground(
  context: CommandContext,
  name: string | undefined,
  { inspect = false, tensors }: PlaygroundOptions,
): Promise<number> {
  const { ports } = context;
  const folder = name === undefined ? null : await folderNamed(name);
  if (tensors !== undefined && folder === null)
    throw new UsageError("--tensors stands for the models of an extension. Name its folder, too.");
  await using place = await layOutPlayground({
    templatesFolder: ports.templatesFolder,
    extension: folder,
    models: tensors === undefined ? new Map() : await readTensors(tensors, ports.constantModel),
  });
  let pid: number | null = null;
  const code = await withEnvironment(place.environment, () =>
    withReadyKernel(context, { folder: place.workspace, trusted: true }, async (kernel) => {
      ({ pid } = await kernel.status());
      const session = new PlaygroundSession({
        kernel,
        terminal: context.terminal,
        workspace: place.workspace,
        tried: place.tried,
        script: place.script,
        stripTypes: ports.stripTypes,
        inspects: inspect,
      });
      using _asks = await followAsks({
        kernel,
        ask: null,
        denies: true,
        remark: (text) => context.terminal.warn(text),
        quit: () => context.terminal.interrupt(),
      });
      using _following = await session.follow();
      await session.settle();
      await converse(context, session);
      return session.failures > 0 && !context.terminal.isInteractive ? exitCodes.failed : exitCodes.ok;
    }),
  );
  // The state can only be removed after its kernel has ended.
  if (pid !== null) await whenGone(pid);
  return code;
}

/** Without a terminal, the lines are printed too, so that the output reads like one. */
async function converse({ terminal }: CommandContext, session: PlaygroundSession): Promise<void> {
  const { isInteractive } = terminal;
  const lines = createInterface({
    input: process.stdin,
    ...(isInteractive ? { output: process.stdout, terminal: terminal.canDraw } : {}),
    signal: terminal.interrupted,
  });
  const interrupted = new Promise<boolean>((resolve) =>
    terminal.interrupted.addEventListener("abort", () => resolve(false), { once: true }),
  );
  const prompt = (): string => (session.isUnfinished ? "… " : "> ");
  lines.on("SIGINT", () => terminal.interrupt());
  if (isInteractive) {
    terminal.print(
      "An empty workspace, which is removed at the end. .help shows what can be typed; Ctrl-D ends.",
    );
    lines.setPrompt(prompt());
    lines.prompt();
  }
  for await (const line of lines) {
    if (!isInteractive) terminal.print(`${prompt()}${line}`.trimEnd());
    // A handler that hangs is left to its kernel, which ends with the session.
    if (!(await Promise.race([session.line(line), interrupted]))) break;
    if (!isInteractive) continue;
    lines.setPrompt(prompt());
    lines.prompt();
  }
  lines.close();
  session.end();
}
