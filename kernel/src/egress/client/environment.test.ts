import { expect, test } from "vitest";
import { egressEnvironment } from "./environment.ts";

test("only variables of proxies and certificates are passed on, the person's settings first", () => {
  const inherited = {
    https_proxy: "http://inherited:3128",
    NO_PROXY: "intranet",
    NODE_EXTRA_CA_CERTS: "/ca.pem",
    ANTHROPIC_API_KEY: "key",
    NODE_OPTIONS: "--require=x",
  };
  expect(egressEnvironment({}, inherited)).toEqual({
    HTTPS_PROXY: "http://inherited:3128",
    NO_PROXY: "intranet",
    NODE_EXTRA_CA_CERTS: "/ca.pem",
  });
  const settings = { proxy: "http://mine:1", noProxy: ["a", "b"], caFile: "/mine.pem" };
  expect(egressEnvironment(settings, inherited)).toEqual({
    HTTPS_PROXY: "http://mine:1",
    NO_PROXY: "a,b",
    NODE_EXTRA_CA_CERTS: "/mine.pem",
  });
  expect(egressEnvironment({}, {})).toEqual({});
});
