/** The list of keys, behind `?`. */
import { Dialog } from "../parts/dialog";
import styles from "./key_list.module.css";
import { keyGroups } from "./keys";

export function KeyList({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Keys" wide>
      <div className={styles["groups"]}>
        {keyGroups().map((group) => (
          <section key={group.title}>
            <h3>{group.title}</h3>
            <dl>
              {group.keys.map((one) => (
                <div key={one.key}>
                  <dt>
                    {one.key.split(" ").map((part) => (
                      <kbd key={part}>{part}</kbd>
                    ))}
                  </dt>
                  <dd>{one.says}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
