import sys; sys.argv=['x']
src=open('/tmp/snapshot/plan.py').read().split('best = 9e9')[0]
exec(src)
from collections import Counter
ops=Counter(); calls=Counter(); cc=Counter()
def local(f,e,a):
    if e=='opcode': ops[f.f_code.co_qualname]+=1
    return local
def glob(f,e,a):
    f.f_trace_opcodes=True; f.f_trace_lines=False; calls[f.f_code.co_qualname]+=1; return local
def prof(f,e,a):
    if e=='c_call': cc[f.f_code.co_qualname]+=1
run()
sys.settrace(glob); sys.setprofile(prof)
for _ in range(20): run()
sys.settrace(None); sys.setprofile(None)
n=200
print(sum(ops.values())/n, sum(calls.values())/n, sum(cc.values())/n)
for k,v in ops.most_common(30): print(f"{v/n:6.1f} {calls[k]/n:5.2f} {cc[k]/n:5.2f} {k}")
