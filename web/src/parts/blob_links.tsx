import { Download } from "lucide-react";
import { bytes } from "../look/numbers";
import { blobsIn } from "./blobs";
import styles from "./blob_links.module.css";

/** The large payloads that a value names: size, type, and a link that saves each as a file. */
export function BlobLinks({ value }: { value: unknown }) {
  const blobs = blobsIn(value);
  if (blobs.length === 0) return null;
  return (
    <ul className={styles["blobs"]} aria-label="Large payloads">
      {blobs.map((one) => (
        <li key={one.$blob}>
          <span>
            {bytes(one.size)} · {one.type}
          </span>
          <a href={`/api/v1/blobs/${one.$blob}`} download={one.$blob}>
            <Download className="icon small" aria-hidden />
            Download
          </a>
        </li>
      ))}
    </ul>
  );
}
