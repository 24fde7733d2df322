package chess
import ("testing";"time";"context")
func TestX(t *testing.T){
 for _, f := range []func(o *GeneratorOptions){
  func(o *GeneratorOptions){o.Counts=Counts{512,128,128,200}},
  func(o *GeneratorOptions){o.Counts=Counts{512,128,128,200};o.Mix=Mix{Mate1:.6,Capture:.4};o.MaxPieces=24;o.MaxMoves=24},
  func(o *GeneratorOptions){o.Counts=Counts{512,128,128,200};o.Mix=Mix{Mate1:.6,Capture:.4};o.MaxMoves=24},
  func(o *GeneratorOptions){o.Counts=Counts{512,128,128,200};o.Mix=Mix{Mate1:.6,Capture:.4};o.MaxMoves=16},
  func(o *GeneratorOptions){o.Counts=Counts{512,128,128,200};o.Mix=Mix{Mate1:.6,Capture:.4};o.MaxPieces=16;o.MaxMoves=24;o.MaxPlies=200},
 } {
 c:=DefaultConfig(); f(&c.Generator)
 s:=time.Now(); 
 task,err:=New(context.Background(), c)
 if err!=nil {t.Log(err);continue}
 t.Log(c.Generator, time.Since(s), task.Notes())
 }
}
