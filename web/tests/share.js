// Starts a browser that the files of the tests share, and prints its address. It ends when its input does.
import { chromium } from "playwright-core";
import { LAUNCH } from "./browser.js";

const server = await chromium.launchServer(LAUNCH);
console.log(server.wsEndpoint());
process.stdin.resume();
process.stdin.on("end", async () => {
  await server.close();
  process.exit(0);
});
