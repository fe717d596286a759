import { expect, test } from "vitest";
import { providerAddressFault } from "./provider-address.ts";

test.each<[url: string, fault: string | RegExp | null]>([
  ["http://127.0.0.1:18080/v1", null],
  ["https://api.example.com/v1", null],
  [
    "127.0.0.1:18080/v1",
    '"127.0.0.1:18080/v1" is not a complete address. Write the base_url with http:// or https://, such as http://127.0.0.1:18080/v1.',
  ],
  ["localhost:18080/v1", /is not a complete address\. .*, such as http:\/\/localhost:18080\/v1\.$/],
  ["//host/v1", /, such as http:\/\/host\/v1\.$/],
  ["my server", /, such as https:\/\/api\.example\.com\/v1\.$/],
  ["", /, such as https:\/\/api\.example\.com\/v1\.$/],
  ["ftp://host/v1", /not by ftp\.$/],
])("an address without a scheme, or with another one, is refused with how to write it: %s", (url, fault) => {
  const found = providerAddressFault(url);
  if (fault instanceof RegExp) expect(found).toMatch(fault);
  else expect(found).toBe(fault);
});
