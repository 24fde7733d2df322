package calc

import ("testing";"encoding/json";"os";"strings")
func TestZZ(t *testing.T){
 data,_:=os.ReadFile("/tmp/storestats/cases.json")
 var cs []struct{Src string; Out, Err *string}
 if err:=json.Unmarshal(data,&cs);err!=nil{t.Fatal(err)}
 bad:=0; nerr:=0
 for _,c:=range cs{
  out,err:=Eval(c.Src,DefaultLimits)
  out=strings.TrimSuffix(out,"\n")
  if (err!=nil)!=(c.Err!=nil) || err==nil && out!=*c.Out {
    bad++
    if bad<40{ w:=""; if c.Err!=nil{w=*c.Err}else{w=*c.Out}; if len(w)>200{w=w[:200]}; if len(out)>200{out=out[:200]}; t.Logf("%s\n   got %q %v\n  want %s",c.Src,out,err,w)}
  }
  if err!=nil{nerr++}
 }
 t.Logf("%d bad of %d, %d errors",bad,len(cs),nerr)
}
