import { maxSecretValueBytes } from "../../base/vocabulary/bounds.ts";
import { personAt } from "../../base/vocabulary/principal.ts";
import { minFoundSecretBytes } from "../../base/vocabulary/secret.ts";
import { exitCodes, UsageError, type CommandContext } from "../command.ts";
import { readHidden } from "../prompts/hidden-text.ts";
import { oneLine } from "../render/foreign.ts";
import { renderSecrets } from "../render/secrets.ts";

interface SecretsOptions {
  readonly host?: readonly string[];
  readonly in?: string;
  readonly json?: boolean;
}

/** Lists, stores or removes secrets. A value comes from a prompt or from standard input, never from the command line. */
export async function secrets(
  { ports, terminal }: CommandContext,
  [verb = "list", name, ...more]: readonly string[],
  { host, in: place, json }: SecretsOptions,
): Promise<number> {
  if (!["list", "set", "remove"].includes(verb))
    throw new UsageError(`There is no command "${verb}" here. Use one of list, set, remove.`);
  if (verb === "list" && name !== undefined) throw new UsageError(`"list" takes no name. Remove "${name}".`);
  if (verb !== "list" && name === undefined)
    throw new UsageError(`The name of the secret is missing. Write: lares secrets ${verb} <name>`);
  if (more.length > 0)
    throw new UsageError(
      verb === "set"
        ? "The value of a secret is not written on the command line, where other programs can read it. Leave it out; you are asked for it."
        : `Only one name is allowed. Remove ${more.join(" ")}.`,
    );
  if (verb === "set" && (host === undefined || host.length === 0))
    throw new UsageError(
      `A secret is sent only to hosts that you name. Add --host, such as: lares secrets set ${name} --host api.example.com`,
    );
  return ports.withUserServices(async ({ secrets }) => {
    if (name === undefined) {
      const items = await secrets.list();
      if (json === true) terminal.json({ items });
      else terminal.print(renderSecrets(items, terminal.surface));
      return exitCodes.ok;
    }
    if (verb === "remove") {
      await secrets.remove(personAt("lares"), name);
      if (json === true) terminal.json({ removed: name });
      else terminal.print(`The secret ${oneLine(name)} is removed.`);
      return exitCodes.ok;
    }
    // Before the person pastes a value, which would be lost.
    secrets.check(name, host ?? [], place);
    const value = await readHidden(terminal, {
      message: `The value of ${oneLine(name)} (it is not shown):`,
      wanted: "value",
      maxBytes: maxSecretValueBytes,
      isJson: json === true,
    });
    if (value === null) return 130;
    const item = await secrets.set(personAt("lares"), name, value, host ?? [], place);
    if (Buffer.byteLength(value) < minFoundSecretBytes)
      terminal.warn(
        `This value has fewer than ${minFoundSecretBytes} bytes: where a server repeats it, it cannot be told from other text, and agents see it.`,
      );
    if (json === true) terminal.json(item);
    else
      terminal.print(`The secret ${oneLine(name)} is stored. It is sent only to ${item.hosts.join(", ")}.`);
    return exitCodes.ok;
  });
}
