import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
// Gives dispatchers the method `request`.
import "undici";
import { expect, onTestFinished, test } from "vitest";
import { type EgressRules, type EgressTarget, targetOf } from "../../policy/egress.ts";
import { Connections } from "./connections.ts";
import type { ResolvedAddress } from "./lookups.ts";
import { Denied } from "../failures.ts";

const rules: EgressRules = { allowedHosts: ["moving.test"], privateHosts: [], providerHosts: [] };

const connectionsTo = (...answers: readonly (readonly ResolvedAddress[])[]): Connections => {
  const left = [...answers];
  return new Connections({ resolve: () => Promise.resolve(left.shift() ?? []), proxy: null });
};

const v4 = (address: string): ResolvedAddress => ({ address, family: 4 });

function target(url: string): EgressTarget {
  const target = targetOf(url);
  if ("reason" in target) throw new Error(target.reason);
  return target;
}

test("a name that leads into this machine is denied, also after it led elsewhere", async () => {
  const connections = connectionsTo([v4("93.184.216.34")], [v4("127.0.0.1")], [v4("10.0.0.1")], []);
  const to = (): Promise<unknown> => connections.to(target("https://moving.test/"), rules);
  await to();
  for (let n = 0; n < 3; n++) await expect(to()).rejects.toThrow(Denied);
});

test("a connection goes to the address that was decided, whatever the name leads to now", async () => {
  const server = createServer((request, response) => response.end(request.headers.host));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  // No name service knows it: only the decided address can be reached.
  const connections = connectionsTo([v4("127.0.0.1"), v4("10.0.0.1")]);
  const open = { ...rules, privateHosts: ["moving.test"] };
  const { dispatcher } = await connections.to(target(`http://moving.test:${port}/`), open);
  const { body } = await dispatcher.request({
    origin: `http://moving.test:${port}`,
    path: "/",
    method: "GET",
  });
  expect(await body.text()).toBe(`moving.test:${port}`);
  await dispatcher.destroy();
});

test("of several addresses only the allowed ones are connected to", async () => {
  const connections = connectionsTo([v4("10.0.0.1"), v4("93.184.216.34")], [v4("93.184.216.34")]);
  const first = await connections.to(target("https://moving.test/"), rules);
  const second = await connections.to(target("https://moving.test/"), rules);
  expect(second.dispatcher).toBe(first.dispatcher);
});
