// node generate.js OPENAPI.json SCHEMA.ts: the types of the API, from the document that a Detent serves.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const [document, types] = process.argv.slice(2);
const tree = await openapiTS(await readFile(document, "utf8"), { alphabetize: true, emptyObjectsUnknown: true });
await writeFile(types, `/** Made from Detent's OpenAPI document by \`make clients\`. Not written by hand. */\n\n${astToString(tree)}`);
