import { describe, expect, it, test } from "vitest";
import { kindOfAddress, type AddressKind } from "./addresses.ts";
import { decideAddress, decideHost, type EgressRules, type EgressTarget, targetOf } from "./egress.ts";

const none: EgressRules = { allowedHosts: [], privateHosts: [], providerHosts: [] };

function target(url: string): EgressTarget {
  const found = targetOf(url);
  if ("reason" in found) throw new Error(found.reason);
  return found;
}

/** Decides about the host, and if it is a name, about its address. */
function check(url: string, rules: Partial<EgressRules>, address?: string): string | null {
  const found = targetOf(url);
  if ("reason" in found) return found.reason;
  const all = { ...none, allowedHosts: [found.host], ...rules };
  const refusal =
    decideHost(found, all) ?? (address === undefined ? null : decideAddress(found, address, all));
  return refusal?.reason ?? null;
}

test.each<[string, AddressKind]>([
  ["93.184.215.14", "public"],
  ["2606:2800:21f:cb07:6820:80da:af6b:8b2c", "public"],
  ["127.0.0.1", "loopback"],
  ["127.255.0.9", "loopback"],
  ["::1", "loopback"],
  ["10.1.2.3", "private"],
  ["172.31.0.1", "private"],
  ["192.168.1.1", "private"],
  ["100.64.0.1", "private"],
  ["169.254.169.254", "private"],
  ["fe80::1", "private"],
  ["fd00:ec2::254", "private"],
  ["::ffff:127.0.0.1", "loopback"],
  ["::ffff:7f00:1", "loopback"],
  ["::ffff:169.254.169.254", "private"],
  ["::127.0.0.1", "loopback"],
  ["64:ff9b::7f00:1", "loopback"],
  ["64:ff9b::a9fe:a9fe", "private"],
  ["64:ff9b:1::a00:1", "private"],
  ["2002:7f00:1::", "loopback"],
  ["2002:a00:1::1", "private"],
  ["2001:0:4136:e378:8000:63bf:80ff:fffe", "loopback"],
  ["::ffff:93.184.215.14", "public"],
  ["64:ff9b::5db8:d70e", "public"],
  ["0.0.0.0", "never"],
  ["::", "never"],
  ["255.255.255.255", "never"],
  ["224.0.0.251", "never"],
  ["ff02::1", "never"],
  ["240.0.0.1", "never"],
  ["example.com", "never"],
  ["", "never"],
])("%s is %s", (address, kind) => {
  expect(kindOfAddress(address)).toBe(kind);
});

describe("an address of a request", () => {
  it.each([
    ["https://API.Example.com./v1?key=x#y", "api.example.com", 443],
    ["https://bücher.example:8443", "xn--bcher-kva.example", 8443],
    ["http://0x7f.1/", "127.0.0.1", 80],
    ["http://2130706433/", "127.0.0.1", 80],
    ["http://0177.0.0.01./", "127.0.0.1", 80],
    ["http://[::FFFF:127.0.0.1]:8080/", "::ffff:7f00:1", 8080],
    ["https://ⓔxample.com", "example.com", 443],
  ])("%s leads to %s, port %i", (url, host, port) => {
    expect(target(url)).toMatchObject({ host, port });
  });

  it("shows its path without the query", () => {
    expect(target("https://example.com/a?token=s#t").path).toBe("/a");
  });

  it.each([
    "ftp://example.com",
    "file:///etc/passwd",
    "data:text/plain,hi",
    "javascript:alert(1)",
    "//example.com",
    "example.com",
    "https://user:password@example.com",
    "https://",
    "https://exa mple.com",
    `https://example.com/${"x".repeat(9000)}`,
  ])("%s is refused", (url) => {
    expect(targetOf(url)).toHaveProperty("reason");
  });
});

describe("a host", () => {
  it.each([
    ["https://api.example.com/", ["api.example.com"], true],
    ["https://api.example.com:9/", ["api.example.com"], true],
    ["https://api.example.com:9/", ["api.example.com:9"], true],
    ["https://api.example.com/", ["api.example.com:443"], true],
    ["https://api.example.com:9/", ["api.example.com:443"], false],
    ["https://api.example.com./", ["API.example.com"], true],
    ["https://evil.api.example.com/", ["api.example.com"], false],
    ["https://example.com/", ["api.example.com"], false],
    ["https://api.example.com.evil.com/", ["api.example.com"], false],
    ["https://api.example.com/", ["evil.com/@api.example.com", "x@api.example.com", ""], false],
  ])("%s for %j: %s", (url, allowedHosts, isAllowed) => {
    expect(check(url, { allowedHosts }) === null).toBe(isAllowed);
  });
});

describe("addresses inside the machine or its network", () => {
  it.each([
    "http://127.0.0.1:8080/",
    "https://127.0.0.1/",
    "https://[::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://169.254.169.254/latest/meta-data",
    "http://192.168.1.1/",
  ])("%s is refused as it stands", (url) => {
    expect(check(url, {})).not.toBeNull();
  });

  it.each(["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "64:ff9b::a00:1", "0.0.0.0"])(
    "a name that resolves to %s is refused at each resolution",
    (address) => {
      expect(check("https://rebind.example/", {})).toBeNull();
      expect(check("https://rebind.example/", {}, address)).not.toBeNull();
      expect(check("https://rebind.example/", {}, "93.184.215.14")).toBeNull();
    },
  );

  it("can be named by the person, by name or address, then also for http", () => {
    const privateHosts = ["nas.lan", "10.0.0.7", "::1"];
    expect(check("http://nas.lan/", { privateHosts }, "192.168.1.9")).toBeNull();
    expect(check("http://10.0.0.7/", { privateHosts })).toBeNull();
    expect(check("https://[::1]:8080/", { privateHosts })).toBeNull();
    expect(check("http://other.lan/", { privateHosts }, "192.168.1.9")).not.toBeNull();
    // Where nothing can be is not made reachable by a name.
    expect(check("http://nas.lan/", { privateHosts }, "0.0.0.0")).not.toBeNull();
  });

  it("a provider's endpoint is open to this provider, and closed to others even if the person named its host", () => {
    const providerHosts = [{ provider: "ollama", host: "127.0.0.1:11434" }];
    const url = "http://127.0.0.1:11434/api/chat";
    expect(check(url, { providerHosts, provider: "ollama" })).toBeNull();
    expect(check(url, { providerHosts, provider: "lab" })).not.toBeNull();
    expect(check(url, { providerHosts })).not.toBeNull();
    expect(check(url, { providerHosts, privateHosts: ["127.0.0.1"] })).not.toBeNull();
    expect(check("http://127.0.0.1:1/", { providerHosts, provider: "ollama" })).not.toBeNull();
  });
});

describe("a provider's endpoint under another name", () => {
  const providerHosts = [
    { provider: "ollama", host: "127.0.0.1:11434" },
    { provider: "lab", host: "192.168.1.9:8080" },
    { provider: "small", host: "localhost:9000" },
  ];
  it.each([
    ["http://localhost:11434/api/delete", "127.0.0.1"],
    ["http://x.localhost:11434/", "127.0.0.1"],
    ["http://[::1]:11434/", undefined],
    ["http://127.0.0.2:11434/", undefined],
    ["http://[::ffff:127.0.0.1]:11434/", undefined],
    ["http://nas.lan:11434/", "127.0.0.1"],
    ["http://nas.lan:8080/", "192.168.1.9"],
    ["https://nas.lan:8080/", "::ffff:c0a8:109"],
    ["http://127.0.0.1:9000/", undefined],
    ["http://[::1]:9000/", undefined],
  ])("%s, at %s, is closed to others", (url, address) => {
    const { host } = target(url);
    const privateHosts = [host];
    expect(check(url, { privateHosts }, address)).toBeNull();
    expect(check(url, { privateHosts, providerHosts }, address)).toMatch(/provider/);
  });

  it("and is the provider's alone, not the other ports beside it", () => {
    const rules = { privateHosts: ["localhost"], providerHosts };
    expect(check("http://localhost:3000/", rules, "127.0.0.1")).toBeNull();
    expect(check("http://localhost:9000/", { ...rules, provider: "small" }, "127.0.0.1")).toBeNull();
    expect(check("https://nas.lan:8080/", rules, "93.184.215.14")).toBeNull();
  });
});

describe("http", () => {
  it("is for this machine and the person's private hosts", () => {
    expect(check("http://api.example.com/", {})).not.toBeNull();
    expect(check("http://api.example.com/", {}, "93.184.215.14")).not.toBeNull();
  });

  it("does not follow a local name out of the machine", () => {
    expect(check("http://localhost/", {}, "93.184.215.14")).not.toBeNull();
    expect(check("http://x.localhost/", { privateHosts: ["x.localhost"] }, "127.0.0.1")).toBeNull();
  });
});

test("what a person downloads may come from every public host by https, and from inside only where they named it", () => {
  const rules = { allowedHosts: [], anyPublicHost: true };
  expect(check("https://cdn.example/x", rules, "93.184.215.14")).toBeNull();
  expect(check("http://cdn.example/x", rules)).toContain("by https only");
  for (const address of ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1"])
    expect(check("https://cdn.example/x", rules, address)).toContain("inside this machine or its network");
  expect(check("http://127.0.0.1:81/x", rules)).toContain("inside this machine or its network");
  const named = { ...rules, privateHosts: ["127.0.0.1:80"] };
  expect(check("http://127.0.0.1/x", named)).toBeNull();
  // Another server on this machine was not named.
  expect(check("http://127.0.0.1:81/x", named)).toContain("inside this machine or its network");
  const ofProvider = { ...named, providerHosts: [{ provider: "local", host: "127.0.0.1:80" }] };
  expect(check("http://127.0.0.1/x", ofProvider)).toContain("provider of models");
});
