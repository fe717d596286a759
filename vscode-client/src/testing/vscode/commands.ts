import { draw } from "./drawn.ts";
import { Disposable } from "./events.ts";
import { record } from "./record.ts";

export const registered = new Map<string, (...values: never[]) => unknown>();

export const commands = {
  registerCommand(id: string, run: (...values: never[]) => unknown): Disposable {
    if (registered.has(id)) throw new Error(`command '${id}' already exists`);
    registered.set(id, run);
    return new Disposable(() => registered.delete(id));
  },
  async executeCommand(id: string, ...values: unknown[]): Promise<unknown> {
    record.commands.push({ id, arguments: values });
    if (id.startsWith("vscode.")) draw("tab", ...values);
    return registered.get(id)?.(...(values as never[]));
  },
};
