import { pathToFileURL } from "node:url";
import { Client } from "../../support/client.ts";
import type { Status } from "../../support/types.ts";
import { until } from "../../support/until.ts";
import type { VSCode } from "./vscode.ts";

/** Connects another client to the same kernel, for the setup of a test. `accepts`: it accepts the documents. */
export async function beside(vscode: VSCode, accepts = true): Promise<Client> {
  const client = new Client({
    home: vscode.home,
    cwd: vscode.base,
    environment: { LARES_KERNEL_LINGER: "1s", XDG_CONFIG_HOME: vscode.configuration },
  });
  await client.request("initialize", {
    processId: process.pid,
    rootUri: pathToFileURL(vscode.workspace()).href,
    capabilities: {},
    initializationOptions: { lares: accepts ? { trusted: true } : {} },
  });
  client.notify("initialized", {});
  return client;
}

/** Accepts the workspace's documents, as a person did before. */
export async function acceptDocuments(vscode: VSCode): Promise<void> {
  await using client = await beside(vscode);
  const { trust } = await until("the documents to be read", async () => {
    const status = await client.request<Status>("lares/status");
    return status.ready && status;
  });
  await client.request("lares/trust", { trusted: true, digest: trust.digest });
  await client.shutdown();
}
