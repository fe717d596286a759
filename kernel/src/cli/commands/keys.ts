import { exitCodes, UsageError, type CommandContext } from "../command.ts";
import { renderKeys } from "../render/packages.ts";

interface KeysOptions {
  readonly json?: boolean;
}

/** Lists or makes the keys with which a person signs packages, or prints a public key. */
export async function keys(
  { ports, terminal }: CommandContext,
  [verb = "list", name, ...rest]: readonly string[],
  { json }: KeysOptions,
): Promise<number> {
  if (!["list", "new", "export"].includes(verb))
    throw new UsageError(`There is no command "${verb}" here. Use one of list, new, export.`);
  if (verb === "list" && name !== undefined) throw new UsageError(`"list" takes no name. Remove "${name}".`);
  if (rest.length > 0) throw new UsageError(`Only one name is allowed. Remove ${rest.join(" ")}.`);
  return ports.withPackages(async (packages) => {
    if (verb === "list") {
      const items = await packages.keys.list();
      if (json === true) terminal.json({ items });
      else terminal.print(renderKeys(items, terminal.surface));
      return exitCodes.ok;
    }
    const key =
      verb === "new" ? await packages.keys.create(name ?? "default") : await packages.keys.named(name);
    if (json === true) terminal.json(key);
    else if (verb === "export") {
      terminal.print(key.publicKey);
      terminal.warn(
        `The fingerprint of "${key.name}" is ${key.fingerprint}. People compare it when they install.`,
      );
    } else
      terminal.print([
        `The key "${key.name}" was made. Its fingerprint is ${key.fingerprint}.`,
        "The private key is stored encrypted on this machine. Without it you cannot publish updates: back up your state",
        "folder (lares doctor names it) and secrets.key in your configuration folder together.",
      ]);
    return exitCodes.ok;
  });
}
