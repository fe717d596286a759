import type { DeepReadonly } from "../../base/deep-readonly.ts";
import type { SecretItem } from "../../base/vocabulary/secret.ts";
import { oneLine } from "./foreign.ts";
import { dayAndTime } from "./quantities.ts";
import type { Surface } from "./style.ts";
import { renderTable } from "./table.ts";
import { hint } from "./hint.ts";

const columns = [{ title: "Name" }, { title: "Hosts", flexible: true }, { title: "In" }, { title: "Stored" }];

export function renderSecrets(items: DeepReadonly<SecretItem[]>, surface: Surface): string[] {
  const { style } = surface;
  if (items.length === 0)
    return hint("No secret is stored. Store one with: lares secrets set <name> --host <host>", surface);
  return renderTable(
    columns,
    items.map(({ name, hosts, in: place, created, source }) => [
      oneLine(name),
      hosts.length === 0 ? style.yellow("none") : hosts.map(oneLine).join(", "),
      oneLine(place),
      source === "environment" ? "environment" : created === null ? "" : dayAndTime(created),
    ]),
    surface,
  );
}
