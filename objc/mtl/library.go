package mtl

import "github.com/paddle-mps/paddle-mps/objc"

var (
	classCompileOptions = objc.Named("MTLCompileOptions")
	setFastMathEnabled  = objc.Declare1[CompileOptions, objc.Bool, objc.Void]("MTLCompileOptions", "setFastMathEnabled:")
	setMathMode         = objc.Declare1[CompileOptions, MathMode, objc.Void]("MTLCompileOptions", "setMathMode:", "15.0")
	setMathFunctions    = objc.Declare1[CompileOptions, MathFloatingPointFunctions, objc.Void]("MTLCompileOptions", "setMathFloatingPointFunctions:", "15.0")
	setLanguageVersion  = objc.Declare1[CompileOptions, LanguageVersion, objc.Void]("MTLCompileOptions", "setLanguageVersion:")
	newFunction         = objc.Declare1[Library, objc.String, Function]("MTLLibrary", "newFunctionWithName:")
	maxTotalThreads     = objc.Declare0[ComputePipelineState, uint64]("MTLComputePipelineState", "maxTotalThreadsPerThreadgroup")
	threadExecution     = objc.Declare0[ComputePipelineState, uint64]("MTLComputePipelineState", "threadExecutionWidth")
)

// NewCompileOptions is +[MTLCompileOptions new], +1.
func NewCompileOptions() CompileOptions { return CompileOptions(classCompileOptions.New()) }

// SetSafeMath is -[MTLCompileOptions setMathMode:] with MTLMathModeSafe and
// -[MTLCompileOptions setMathFloatingPointFunctions:] with MTLMathFloatingPointFunctionsPrecise, which are independent of
// each other; before macOS 15 -[MTLCompileOptions setFastMathEnabled:] with NO, which sets both.
func (o CompileOptions) SetSafeMath() {
	if objc.Available(setMathMode.Method, o) && objc.Available(setMathFunctions.Method, o) {
		setMathMode.Send(o, MathModeSafe)
		setMathFunctions.Send(o, MathFloatingPointFunctionsPrecise)
		return
	}
	setFastMathEnabled.Send(o, objc.No)
}

// SetLanguageVersion is -[MTLCompileOptions setLanguageVersion:].
func (o CompileOptions) SetLanguageVersion(v LanguageVersion) { setLanguageVersion.Send(o, v) }

// NewFunction is -[MTLLibrary newFunctionWithName:], +1; nil where there is none of that name.
func (l Library) NewFunction(name objc.String) Function { return newFunction.Send(l, name) }

// MaxTotalThreadsPerThreadgroup is -[MTLComputePipelineState maxTotalThreadsPerThreadgroup].
func (p ComputePipelineState) MaxTotalThreadsPerThreadgroup() uint64 { return maxTotalThreads.Send(p) }

// ThreadExecutionWidth is -[MTLComputePipelineState threadExecutionWidth].
func (p ComputePipelineState) ThreadExecutionWidth() uint64 { return threadExecution.Send(p) }
