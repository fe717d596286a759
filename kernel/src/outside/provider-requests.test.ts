import { expect, test } from "vitest";
import type { ProviderSettings } from "../base/vocabulary/model-settings.ts";
import { ProviderRequests } from "./provider-requests.ts";

const requests = new ProviderRequests({
  egress: {} as never,
  secrets: {
    resolve: () =>
      Promise.resolve({ value: "k", hosts: ["127.0.0.1"], in: "header", source: "store" as const }),
  },
  issued: { issue: (_name: string, value: string) => value, known: [] } as never,
  environment: {},
  privateHosts: () => [],
  providers: () => [],
});
const lab: ProviderSettings = { id: "lab", api: "openai-compatible", secret: "lab" };

test("an address without a scheme is named as the fault, and not the secret's host", async () => {
  for (const baseUrl of ["127.0.0.1:18080/v1", "localhost:18080/v1"])
    expect(await requests.key({ ...lab, baseUrl })).toEqual({
      failure: {
        class: "NoModel",
        message: `The provider "lab" cannot be reached. "${baseUrl}" is not a complete address. Write the base_url with http:// or https://, such as http://${baseUrl}.`,
      },
    });
});

test("a key for another host than the address's is refused with the command that stores it", async () => {
  expect(await requests.key({ ...lab, baseUrl: "http://127.0.0.1:18080/v1" })).toEqual({ key: "k" });
  expect(await requests.key({ ...lab, baseUrl: "https://api.example.com/v1" })).toMatchObject({
    failure: {
      class: "NoKey",
      message: expect.stringContaining("lares secrets set lab --host api.example.com") as string,
    },
  });
});

test("a provider that is not reached over the network needs no address", async () => {
  expect(await requests.key({ id: "rehearsal", api: "scripted" })).toEqual({ key: null });
});
