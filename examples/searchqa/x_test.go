package searchqa_test
import ("testing";"fmt";"strings";"slices"
 whale "github.com/seed-095d5d2b/whale"
 "github.com/seed-095d5d2b/whale/lm/token"
 "github.com/seed-095d5d2b/whale/policy/local"
 "github.com/seed-095d5d2b/whale/task/searchqa"
 "github.com/seed-095d5d2b/whale/task/searchqa/bm25"
 "github.com/seed-095d5d2b/whale/task/searchqa/world"
)
func TestX(t *testing.T){
 g,err:=world.NewGenerator(world.DefaultOptions()); if err!=nil{t.Fatal(err)}
 arts,qq,err:=g.Pretrain(3000,3000); if err!=nil{t.Fatal(err)}
 var texts []string
 for _,a:=range arts { texts=append(texts,a.Title+": "+a.Text)}
 for _,q:=range qq { texts=append(texts,q.Text, q.Answers[0])}
 tok,err:=token.Train(slices.Values(texts), token.TrainOptions{Vocab:1024, Split:"gpt2", Special: local.Specials()})
 if err!=nil{t.Fatal(err)}
 o:=world.DefaultOptions(); o.Seed=11
 w,err:=world.Generate(o); if err!=nil {t.Fatal(err)}
 x,err:=bm25.New(t.Context(),searchqa.Passages(w.Articles),bm25.Plain); if err!=nil {t.Fatal(err)}
 qs:=w.Questions[whale.SplitTrain][:1000]
 sum:=0; for _,a:=range w.Articles[:500] { sum+=len(tok.Encode(a.Title+": "+a.Text)) }
 fmt.Println("tokens/passage",sum/500)
 for _,qn:=range []string{"question","name"}{ for _,k:=range []int{1,3}{ for _,cut:=range []int{16,24,32,40,1000}{
  hit:=[2]int{};n:=[2]int{}; toks:=0
  for _,q:=range qs { kind:=0; if q.Kind==world.TwoHop {kind=1}
   query:=q.Text; if qn=="name" {query=q.Hops[0].Title}
   hs,err:=x.Search(t.Context(),query,k); if err!=nil{t.Fatal(err)}
   n[kind]++
   ok:=false
   for _,h:=range hs { text:=h.Title+": "+h.Text; e:=tok.Encode(text); if len(e)>cut {e=e[:cut]}; toks+=len(e); text=tok.Decode(e)
    want:=q.Hops[0].Object
    if h.Title==q.Hops[0].Title && strings.Contains(text[min(len(text),len(h.Title)):],want) {ok=true} }
   if ok {hit[kind]++}
  }
  fmt.Printf("  %s top %d cut %d each: first fact shown one-hop %.2f two-hop %.2f; tokens %d\n",qn,k,cut,float64(hit[0])/float64(n[0]),float64(hit[1])/float64(n[1]),toks/len(qs))
 }}}
 x.Close()
}
